import { decimal, e164 as e164Schema, jsonFault, stringMap, text } from '@parley/nodes'
import { e164, instant as instants, uuid as uuids } from '@parley/nodes/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digest, uuid } from './names.ts'
import { listQuery, page } from './page.ts'
import { principalRef, publicationRef, scope } from './references.ts'
import { instant, timestamp } from './time.ts'

describe('text', () => {
  it('the length of a text is counted in code points', () => {
    const twoToSix = text(2, 6)
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 10 }), value => {
        const count = [...value].length
        const sound = !value.includes('\0') && value.isWellFormed()
        expect(twoToSix.safeParse(value).success).toBe(sound && count >= 2 && count <= 6)
      }),
    )
  })

  it('a text with an unpaired surrogate at any position is refused', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 0xd800, max: 0xdfff }), (value, unit) => {
        const broken = `a${String.fromCharCode(unit)}b`
        expect(text(0).safeParse(broken + value).success).toBe(false)
      }),
    ))
})

describe('a decimal', () => {
  it.each(['0', '0.5', '10', '12.000000000001', '9'.repeat(40)])('%s is a valid decimal', value =>
    expect(decimal.safeParse(value).success).toBe(true),
  )
  it.each(['', '00', '01', '.5', '1.', '-1', '+1', '1e3', '1.0000000000001', '1,5', ' 1', '1\n'])(
    '%j is not a valid decimal',
    value => expect(decimal.safeParse(value).success).toBe(false),
  )
})

describe('a time', () => {
  it('a time in a request may have any UTC offset', () => {
    for (const value of instants.valid) expect(instant.safeParse(value).success).toBe(true)
    for (const value of instants.invalid) expect(instant.safeParse(value).success).toBe(false)
    expect(instant.safeParse(`2026-01-01T00:00:00.${'0'.repeat(60)}Z`).success).toBe(false)
  })

  it.each([
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
    ['0358-02-18T18:40:12.5-19:07', '0358-02-19T13:47:12.500Z'],
    ['2026-01-01T00:00:00.123456+05:30', '2025-12-31T18:30:00.123456Z'],
  ])('the request time %s is read as %s', (written, read) => {
    expect(instant.parse(written)).toBe(read)
  })

  it('times in responses are UTC with milliseconds', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), noInvalidDate: true, max: new Date('9999-12-31') }), date => {
        expect(timestamp.safeParse(date.toISOString()).success).toBe(true)
        expect(instant.safeParse(date.toISOString()).success).toBe(true)
      }),
    )
    for (const value of ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.123+00:00', '2026-01-01T00:00:00.1234Z'])
      expect(timestamp.safeParse(value).success).toBe(false)
  })
})

describe('identifiers', () => {
  it('a phone number is in E.164 form', () => {
    for (const value of e164.valid) expect(e164Schema.safeParse(value).success).toBe(true)
    for (const value of e164.invalid) expect(e164Schema.safeParse(value).success).toBe(false)
  })

  it('a resource id is a UUID of any version', () => {
    fc.assert(fc.property(fc.uuid(), value => uuid.safeParse(value).success))
    for (const value of uuids.invalid) expect(uuid.safeParse(value).success).toBe(false)
  })

  it('a resource id is normalised to lower case', () => {
    const id = '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f'
    expect(uuid.parse(id.toUpperCase())).toBe(id)
    expect(uuid.safeParse('x').error?.issues[0]?.message).toBe('an id: 32 hexadecimal digits as 8-4-4-4-12')
  })

  it('a plan is identified by its SHA-256 digest', () => {
    expect(digest.safeParse(`sha256:${'0f'.repeat(32)}`).success).toBe(true)
    for (const wrong of [
      `sha256:${'0F'.repeat(32)}`,
      `sha256:${'0'.repeat(63)}`,
      '0f'.repeat(32),
      `sha512:${'0f'.repeat(32)}`,
    ])
      expect(digest.safeParse(wrong).success).toBe(false)
  })
})

describe('a reference', () => {
  const id = uuids.valid[0]
  const by = { owner_id: 'o', environment: 'production' }

  it('a principal is a user, an API key or the platform', () => {
    for (const kind of ['user', 'api_key']) {
      expect(principalRef.safeParse({ ...by, kind, id }).success).toBe(true)
      expect(principalRef.safeParse({ ...by, kind, id: 'staff' }).success).toBe(false)
    }
    expect(principalRef.safeParse({ ...by, kind: 'system', id: 'staff' }).success).toBe(true)
    expect(principalRef.safeParse({ ...by, kind: 'system', id: 'x'.repeat(257) }).success).toBe(false)
    expect(principalRef.safeParse({ ...by, kind: 'system', id: '' }).success).toBe(false)
    expect(principalRef.safeParse({ ...by, owner_id: '', kind: 'user', id }).success).toBe(false)
    expect(principalRef.safeParse({ ...by, kind: 'robot', id }).success).toBe(false)
  })

  it('references to an environment or a publication have all their members', () => {
    expect(scope.safeParse({ ...by, tenant_id: id }).success).toBe(true)
    expect(scope.safeParse({ ...by, tenant_id: null }).success).toBe(false)
    const ref = { agent_id: 'a', version: 0, digest: `sha256:${'0'.repeat(64)}` }
    expect(publicationRef.safeParse(ref).success).toBe(true)
    expect(publicationRef.safeParse({ ...ref, version: 2_147_483_648 }).success).toBe(false)
  })
})

describe('a list', () => {
  it('the default page size of a list is 50', () => {
    expect(listQuery({}).parse({})).toEqual({ limit: 50 })
    expect(listQuery({}).safeParse({ limit: null }).success).toBe(false)
    expect(listQuery({}).safeParse({ page: 1 }).success).toBe(false)
  })

  it('every page has a next_cursor, which is null on the last one', () => {
    const ids = page(uuid)
    expect(ids.safeParse({ items: [], next_cursor: null }).success).toBe(true)
    expect(ids.safeParse({ items: [] }).success).toBe(false)
    expect(ids.safeParse({ items: [], next_cursor: 'x'.repeat(1025) }).success).toBe(false)
  })
})

describe('a map', () => {
  it('a map with more than its maximum of entries is refused', () => {
    const two = stringMap(text(1, 9), text(0, 9), 2)
    expect(two.safeParse({ a: '1', b: '2' }).success).toBe(true)
    expect(two.safeParse({ a: '1', b: '2', c: '3' }).success).toBe(false)
  })
})

describe('faults in JSON bodies', () => {
  it('JSON without U+0000 and __proto__ has no fault', () =>
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), value => {
        const written = JSON.stringify(value)
        // JSON.parse gives what a body gives; `-0` and the like are gone by then.
        if (written.includes('\\u0000') || written.includes('__proto__')) return
        expect(jsonFault(JSON.parse(written))).toBeNull()
      }),
    ))

  it.each([
    ['U+0000', { a: ['x', 'b\0'] }, ['a', 1]],
    ['half a surrogate pair', { a: { b: '\udfff' } }, ['a', 'b']],
    ['a name with U+0000', { a: { 'b\0': 1 } }, ['a']],
    ['the name __proto__', JSON.parse('{"a":[{"__proto__":{}}]}'), ['a', 0]],
    ['undefined', { a: undefined }, ['a']],
    ['an infinite number', { a: Number.POSITIVE_INFINITY }, ['a']],
    [
      'an object of 10,001 members',
      {
        a: Object.fromEntries(
          Array(10_001)
            .fill(0)
            .map((_, n) => [n, n]),
        ),
      },
      ['a'],
    ],
    ['an instance of a class', { a: new Date(0) }, ['a']],
  ])('%s is refused at its path', (_, value, path) => expect(jsonFault(value)?.path).toEqual(path))

  it('more than 64 levels are refused, and a million levels do not overflow the stack', () => {
    const nested = (depth: number) => {
      let value: unknown = 1
      for (let level = 0; level < depth; level++) value = [value]
      return value
    }
    expect(jsonFault(nested(64))).toBeNull()
    expect(jsonFault(nested(65))?.message).toContain('64')
    expect(jsonFault(nested(1_000_000))?.message).toContain('64')
  })
})
