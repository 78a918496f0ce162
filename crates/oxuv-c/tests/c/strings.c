/* UTF-16 and WTF-8; buffers. */
#include "check.h"

/* Both are the same text. The units end with a zero, which is not counted. */
static void check_pair(const uint16_t* units, ssize_t count, const char* text) {
  size_t length = strlen(text), size, room;
  char* made = NULL;
  char given[32];
  uint16_t back[32];
  ssize_t i;

  CHECK(uv_utf16_length_as_wtf8(units, count) == length);
  CHECK(uv_utf16_length_as_wtf8(units, -1) == length);
  size = 0xdead;
  CHECK(uv_utf16_to_wtf8(units, count, NULL, &size) == 0 && size == length);
  CHECK(uv_utf16_to_wtf8(units, -1, NULL, NULL) == 0);
  CHECK(uv_utf16_to_wtf8(units, -1, &made, NULL) == 0 && strcmp(made, text) == 0);
  free(made);
  made = NULL;
  CHECK(uv_utf16_to_wtf8(units, count, &made, &size) == 0 && size == length && strcmp(made, text) == 0);
  free(made);

  /* Into memory that is there: all, or the beginning; always with a zero; and the size that is needed. */
  made = given;
  for (room = 0; room < length + 3; room++) {
    size_t shown = room < length ? room : length;
    memset(given, 0x55, sizeof(given));
    size = room;
    CHECK(uv_utf16_to_wtf8(units, room % 2 ? count : -7, &made, &size) == (room < length ? UV_ENOBUFS : 0));
    CHECK(made == given && size == length);
    CHECK(memcmp(given, text, shown) == 0 && given[shown] == '\0' && given[shown + 1] == 0x55);
  }

  CHECK(uv_wtf8_length_as_utf16(text) == count + 1);
  memset(back, 0x55, sizeof(back));
  uv_wtf8_to_utf16(text, back, (size_t) count + 1);
  for (i = 0; i < count; i++) CHECK(back[i] == units[i]);
  CHECK(back[count] == 0 && back[count + 1] == 0x5555);
}

static void texts_go_to_and_fro(void) {
  static const uint16_t empty[] = {0};
  static const uint16_t plain[] = {'o', 'x', 0};
  static const uint16_t edges[] = {0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0};
  static const uint16_t pair[] = {0xd83d, 0xde00, 'x', 0xd800, 0xdc00, 0xdbff, 0xdfff, 0};
  static const uint16_t alone[] = {0xd800, 'x', 0xdfff, 0xd800, 0xd800, 0xdc00, 0xdbff, 0};
  check_pair(empty, 0, "");
  check_pair(plain, 2, "ox");
  check_pair(edges, 7, "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf");
  check_pair(pair, 7, "\xf0\x9f\x98\x80x\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
  check_pair(alone, 7, "\xed\xa0\x80x\xed\xbf\xbf\xed\xa0\x80\xf0\x90\x80\x80\xed\xaf\xbf");
}

static void a_count_is_the_end_and_zeros_are_units(void) {
  static const uint16_t units[] = {'a', 0, 'b', 0xd83d, 0xde00};
  char text[8];
  char* place = text;
  size_t size = 4;
  CHECK(uv_utf16_length_as_wtf8(units, 4) == 6); /* half a pair */
  CHECK(uv_utf16_length_as_wtf8(units, 5) == 7);
  CHECK(uv_utf16_length_as_wtf8(units, -1) == 1);
  CHECK(uv_utf16_to_wtf8(units, 3, &place, &size) == 0);
  CHECK(size == 3 && memcmp(text, "a\0b\0", 4) == 0);
}

static void the_reader_is_lenient_about_forms(void) {
  uint16_t units[3];
  CHECK(uv_wtf8_length_as_utf16("\xed\xa0\x80\xed\xb0\x80") == 3); /* a pair, each half on its own */
  uv_wtf8_to_utf16("\xed\xa0\x80\xed\xb0\x80", units, 3);
  CHECK(units[0] == 0xd800 && units[1] == 0xdc00 && units[2] == 0);
  CHECK(uv_wtf8_length_as_utf16("\xe0\x81\x81") == 2); /* longer than needed */
  CHECK(uv_wtf8_length_as_utf16("\xf0\x80\x80\x80") == 2);
}

static void what_is_not_wtf8_is_refused(void) {
  static const char* const texts[] = {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2x", "\xe0\x80", "\xed\xa0x",
    "\xf0\x90\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "fine until here\xc3"};
  uint16_t units[4];
  size_t i;
  for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) CHECK(uv_wtf8_length_as_utf16(texts[i]) == UV_EINVAL);
  /* Whoever did not ask before gets the beginning, and never more than there is room for. */
  memset(units, 0x55, sizeof(units));
  uv_wtf8_to_utf16("ab\xff", units, 4);
  CHECK(units[0] == 'a' && units[1] == 'b' && units[2] == 0 && units[3] == 0x5555);
  memset(units, 0x55, sizeof(units));
  uv_wtf8_to_utf16("abcdef", units, 3);
  CHECK(units[0] == 'a' && units[2] == 'c' && units[3] == 0x5555);
}

static void null_is_refused(void) {
  static const uint16_t units[] = {'a', 0};
  char text[4];
  char* place = text;
  CHECK(uv_utf16_length_as_wtf8(NULL, 0) == 0);
  CHECK(uv_utf16_to_wtf8(units, 1, &place, NULL) == UV_EINVAL);
  CHECK(uv_wtf8_length_as_utf16(NULL) == UV_EINVAL);
}

static void a_buffer_is_what_it_is_made_of(void) {
  char byte;
  uv_buf_t buf = uv_buf_init(&byte, UINT32_MAX);
  CHECK(buf.base == &byte && buf.len == UINT32_MAX);
  buf = uv_buf_init(NULL, 7);
  CHECK(buf.base == NULL && buf.len == 7);
  buf = uv_buf_init(NULL, 0);
  CHECK(buf.base == NULL && buf.len == 0);
}

int main(void) {
  texts_go_to_and_fro();
  a_count_is_the_end_and_zeros_are_units();
  the_reader_is_lenient_about_forms();
  what_is_not_wtf8_is_refused();
  null_is_refused();
  a_buffer_is_what_it_is_made_of();
  puts("ok");
  return 0;
}
