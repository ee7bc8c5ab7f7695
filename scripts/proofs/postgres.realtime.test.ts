import { describe, expect, it } from 'vitest'
import { isInstalled, OLDER_RELEASES, olderServer, provePostgres } from './postgres.ts'

/** Migrations, row security, admission and the search of words: what differs between versions is in their SQL. */
const SHORT = {
  paths: [
    'store/src/io/migrate.test.ts',
    'store/src/io/row-security.test.ts',
    'store/src/runs/admission.test.ts',
    'store/src/jobs/jobs.test.ts',
    'store/src/knowledge/search.test.ts',
  ],
  // Each worker loads the modules anew, which takes as long as the tests of a file.
  workers: 1,
}

describe.each(OLDER_RELEASES)('Postgres %s', release => {
  const server = olderServer(release)
  const missing = !isInstalled(server)
  const note = missing ? ` (skipped: Postgres ${release} is not installed: .ci/run installs it)` : ''

  it.skipIf(missing)(
    `tables, row security, admission, jobs and the search of words work on Postgres ${server.major}${note}`,
    async () => {
      const lines: object[] = []
      const { ok } = await provePostgres({ line: record => lines.push(record), progress: () => {} }, [server], SHORT)
      expect(ok, JSON.stringify(lines)).toBe(true)
    },
  )

  it.skipIf(missing)(`the proof "postgres" reports a server that is not Postgres ${server.major}${note}`, async () => {
    const other = { ...server, major: server.major - 1 }
    const { ok } = await provePostgres({ line: () => {}, progress: () => {} }, [other], SHORT)
    expect(ok).toBe(false)
  })
})
