import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** The version of the client for Postgres that `StatementBatch` was checked against. */
const CHECKED = '8.23.1'

const read = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))

it('the installed client for Postgres is the one that batches of statements were checked against', () => {
  const how =
    'read in its lib/client.js which methods it calls of a query that is not its own, and when; run packages/store/src/io/database.test.ts; then change CHECKED'
  const { dependencies } = read('../../package.json')
  const { packages } = read('../../../../package-lock.json')
  expect(dependencies.pg, `pg is pinned to one version; for another one ${how}`).toBe(CHECKED)
  expect(packages['node_modules/pg'].version, `another version of pg is installed: ${how}`).toBe(CHECKED)
  expect(dependencies['pg-protocol'], 'batches and pg make their messages by one version of pg-protocol').toBe(
    packages['node_modules/pg-protocol'].version,
  )
})
