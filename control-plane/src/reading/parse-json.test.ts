import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from './parse-json.ts'

const pathOf = (text: string) => {
  const parsed = parseJson(text)
  return parsed.ok ? null : parsed.issue.path
}

describe('JSON bodies', () => {
  it.each([
    ['{"a":1,"a":2}', '/a'],
    ['{"a":1,"\\u0061":2}', '/a'],
    ['{"a":{"b":[0,{"c":1, "c" : 2}]}}', '/a/b/1/c'],
    ['[{"x":1},{"y":{"z/~":1,"z/~":1}}]', '/1/y/z~1~0'],
    ['{"a":"{\\"a\\":1","a":2}', '/a'],
    ['{"":1,"":2}', '/'],
  ])('the repeated name in %s is refused at %s', (text, path) => {
    expect(pathOf(text)).toBe(path)
  })

  it.each([
    ['{"a":{"a":{"a":1}}}', { a: { a: { a: 1 } } }],
    ['[{"a":1},{"a":2}]', [{ a: 1 }, { a: 2 }]],
    ['{"a":"a","b":"a"}', { a: 'a', b: 'a' }],
    ['{"a":"b\\\\","b":"\\":"}', { a: 'b\\', b: '":' }],
    ['"a"', 'a'],
    ['0', 0],
  ])('%s is accepted', (text, value) => {
    expect(parseJson(text)).toEqual({ ok: true, value })
  })

  it('text that is not JSON is refused without being quoted', () => {
    expect(parseJson('{"secret":')).toEqual({ ok: false, issue: { path: '', message: 'body: not JSON' } })
  })

  it('every value that JSON can hold is accepted as it was written', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(parseJson(text)).toEqual({ ok: true, value: JSON.parse(text) })
      }),
    )
  })

  it('a name that is put twice anywhere in an object is found', () => {
    const names = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(names, fc.nat(), fc.nat(), fc.jsonValue(), (unique, which, where, value) => {
        const name = unique[which % unique.length]!
        const members = unique.map(one => `${JSON.stringify(one)}:${JSON.stringify(value)}`)
        members.splice(where % (members.length + 1), 0, `${JSON.stringify(name)} : 0`)
        expect(parseJson(`{"outer":[{${members.join(',')}}]}`).ok).toBe(false)
      }),
    )
  })
})
