#include <iostream>
#include <string>

std::string greet(int times);

int main() { std::cout << greet(3) << std::endl; }
