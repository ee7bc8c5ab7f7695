import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PreparedQuery } from './prepared-query.ts'
import { type TestDatabase, testDatabase } from './testing/index.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

it('a prepared query is compiled once and takes new arguments each time, at any position and number of uses', async () => {
  let built = 0
  const query = new PreparedQuery((db, { name, count }: { readonly name: string; readonly count: number }) => {
    built++
    return db
      .selectNoFrom([
        sql<string>`${name}::text`.as('name'),
        sql<number>`${count}::int + ${1}::int`.as('next'),
        sql<string>`${name}::text || ${'!'}::text`.as('cry'),
      ])
      .limit(count)
  })
  const db = test.database.within(await test.scope())
  expect(await query.rows(db, { name: 'a', count: 1 })).toEqual([{ name: 'a', next: 2, cry: 'a!' }])
  const other = test.database.within(await test.scope())
  expect(await query.rows(other, { count: 7, name: 'b' })).toEqual([{ name: 'b', next: 8, cry: 'b!' }])
  expect(await query.rows(db, { name: 'c', count: 0 })).toEqual([])
  expect(built).toBe(1)
})
