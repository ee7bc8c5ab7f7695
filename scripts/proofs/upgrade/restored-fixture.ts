import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { migrate } from '@parley/store'
import { Client } from 'pg'
import { repositoryRoot } from '../../repository.ts'
import { restoreRows } from './rows.ts'

/** The version that made the fixture: a commit of this repository's history. */
export const BEFORE = 'ad19911'
const FOLDER = join(import.meta.dirname, 'fixtures', BEFORE)
const MIGRATIONS = join(repositoryRoot, 'packages/store/src/migrations')
/** Origin of webhooks and actions in the fixture, as `make-fixture.ts` wrote it. */
const RECEIVER = 'http://127.0.0.1:9187'

/** Creates an empty database on the server of `url`; returns its owner's URL. */
export async function emptyDatabase(serverUrl: string, name: string): Promise<string> {
  const client = new Client({ connectionString: new URL('/postgres', serverUrl).href })
  await client.connect()
  try {
    await client.query(`create database ${name}`)
  } finally {
    await client.end()
  }
  return new URL(`/${name}`, serverUrl).href
}

/**
 * Restores the fixture into an empty database and an empty home: schema and rows of {@link BEFORE}, without later migrations.
 * `receiver` replaces the origin of its webhooks and actions.
 */
export async function restoreFixture(url: string, home: string, receiver: string): Promise<void> {
  const sql = gunzipSync(readFileSync(join(FOLDER, 'data.sql.gz')))
    .toString()
    .replaceAll(RECEIVER, receiver)
  // The rows contain the checksums of the migrations, so the start refuses a migration that was changed since.
  const names = [...sql.matchAll(/^insert into parley\."migrations" .* values \('(\d{4}-[a-z0-9-]+)'/gm)].map(
    ([, name]) => name!,
  )
  const steps = names.map(name => ({ name, sql: readFileSync(join(MIGRATIONS, `${name}.sql`), 'utf8') }))
  await migrate(url, steps)
  await restoreRows(url, sql)
  const files = JSON.parse(readFileSync(join(FOLDER, 'home.json'), 'utf8')) as Readonly<Record<string, string>>
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), Buffer.from(content, 'base64'), { mode: 0o600 })
  }
}
