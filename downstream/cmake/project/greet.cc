#include <string>

std::string greet(int times) {
    std::string all;
    for (int i = 0; i < times; i++) all += i ? " hello" : "hello";
    return all;
}
