import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { wireValue } from './wire-value.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

describe('a parameter of a statement', () => {
  const difficult = ['', 'NULL', 'null', 'a b', '{}', '"', '\\', '\\"', "'", ',', 'é\u{1f600}', '\n\t', ' x ']

  it('arrives in Postgres as it was given, also as an item of an array', async () => {
    const db = test.database.within(await test.scope())
    const { rows } = await sql`
      select ${difficult}::text[] as texts, ${[[1, 2], [3, null]]}::int[] as numbers, ${[true, false, null]}::boolean[] as flags,
        ${[Buffer.from([0, 255, 92, 34]), Buffer.alloc(0)]}::bytea[] as bytes, ${Buffer.from([0, 1, 255])}::bytea as blob,
        ${new Uint8Array([7, 8, 9]).subarray(1)}::bytea as part, ${{ a: ['"', null], b: { c: 1.5 } }}::jsonb as json,
        ${new Date(1_700_000_000_123)}::timestamptz as at, ${12345678901234567890n}::numeric as big, ${0.1}::float8 as small,
        ${false}::boolean as no, ${null}::text as nothing, ${undefined}::text as missing, ${[]}::text[] as empty`.execute(
      db,
    )
    expect(rows[0]).toEqual({
      texts: difficult,
      numbers: [
        [1, 2],
        [3, null],
      ],
      flags: [true, false, null],
      bytes: [Buffer.from([0, 255, 92, 34]), Buffer.alloc(0)],
      blob: Buffer.from([0, 1, 255]),
      part: Buffer.from([8, 9]),
      json: { a: ['"', null], b: { c: 1.5 } },
      at: '2023-11-14T22:13:20.123Z',
      big: '12345678901234567890',
      small: 0.1,
      no: false,
      nothing: null,
      missing: null,
      empty: [],
    })
  })

  it('a parameter of a statement is refused before anything is sent when it has no text form in Postgres', () => {
    expect(() => wireValue(() => 1)).toThrow('a function is no value for Postgres')
    expect(() => wireValue(Symbol('x'))).toThrow('a symbol is no value for Postgres')
    expect(() => wireValue(new Date(Number.NaN))).toThrow('Invalid time value')
  })
})
