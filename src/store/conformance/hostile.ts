/** Text that has broken somebody's store before. */
export const HOSTILE_TEXTS: Readonly<Record<string, string>> = {
  nul: 'a\u0000b',
  'nul alone': '\u0000',
  'high surrogate alone': 'x\ud83d',
  'low surrogate alone': '\ude00y',
  'surrogates the wrong way round': '\ude00\ud83d',
  'escape that stores use themselves': '\u0001"a"',
  'escape alone': '\u0001',
  'escape that looks like JSON': '\u0001\u0000{}',
  'byte order mark': '\ufeffx',
  noncharacter: '\uffff\ufffe',
  'line separators': '\u2028\u2029\u0085\r\n\t\v\f',
  quotes: `'"\`\\'' ; drop table job; -- $1 $$ %s`,
  'array literal': '{a,"b",NULL}',
  'looks like a number': '9007199254740993',
  'looks like minus zero': '-0',
  'looks like null': 'null',
  prototype: '__proto__',
  constructor: 'constructor',
  spaces: ' \u00a0x\u3000 ',
  'same letter, composed': '\u00e9',
  'same letter, decomposed': 'e\u0301',
  'capital letters': 'É',
  astral: '\u{1f600}\u{10ffff}',
  separators: '/|,:;\u001f\u001e',
}

/** Longer than any index entry. */
export const MEBIBYTE = `${'k'.repeat(1 << 20)}`

export const HOSTILE_JSON: Readonly<Record<string, string>> = {
  ...HOSTILE_TEXTS,
  empty: '',
  'empty array': '[]',
  'big integer': '{"n":9007199254740993}',
  'minus zero': '{"n":-0}',
  'duplicate keys in order': '{"b":1,"a":2,"b":3}',
  'prototype key': '{"__proto__":{"x":1},"constructor":1}',
  'escaped nul': '{"s":"\\u0000"}',
  'escaped lone surrogate': '{"s":"\\ud800"}',
  'deep nesting': `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  'odd spacing': ' { "a" :\n1 } ',
  'no JSON at all': 'pawl-enc:AAAA/+==',
  'a mebibyte': MEBIBYTE,
}

/** What `JSON.stringify` and floating point make difficult. */
export const HOSTILE_NUMBERS: readonly number[] = [
  -0,
  0.1,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_VALUE,
  Number.MAX_VALUE,
  1e21,
  123456789.12345679,
]
