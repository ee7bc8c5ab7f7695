import { loadavg } from 'node:os'
import { attachEmbeddedPostgres } from '@parley/store'
import { Client } from 'pg'
import { chromium as playwright } from 'playwright-core'
import { CHROMIUM_FLAGS, chromium } from '../../interop/calling-page.ts'
import { clientOf, hasEnded, waitForRun } from '../../interop/placed-call.ts'
import { startServing, temporaryHome } from '../../interop/serving.ts'
import { pathOf } from '../../interop/skip.ts'
import { withCleanups } from './calls/cleanups.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const VIEWS = 8
const CALL_MS = 120_000
/** Goal of the median, from the navigation to the first row. */
const SHOWN_MS = 1000

/**
 * The first view of the console on the embedded database with `count` runs: from the navigation to the first row, `VIEWS` times with an
 * empty cache of the browser and as often with a filled one.
 */
export const proof: Proof = { name: 'first-view', seconds: 0, count: 100_000, run: proveFirstView }

async function proveFirstView({ count, line, progress }: ProofOptions): Promise<ProofOutcome> {
  if (chromium.missing) throw new Error(`Chromium is missing${chromium.note}`)
  return withCleanups(async atEnd => {
    const home = temporaryHome(atEnd)
    const serving = await startServing(atEnd, { home })
    const client = clientOf(serving)
    const body = { agent_id: 'clinic', channel: 'phone', mode: 'outbound', to: serving.demo.phone! } as const
    const { run_id } = await client.runs.create({ body })
    await client.runs.cancel({ params: { run_id }, body: {} })
    await waitForRun(client, run_id, hasEnded, CALL_MS)
    await copyRun(await attachEmbeddedPostgres(home), run_id, count)
    progress(`${count} runs are stored, load ${loadavg()[0]!.toFixed(1)}`)

    const browser = await playwright.launch({ executablePath: pathOf('chromium')!, args: [...CHROMIUM_FLAGS] })
    atEnd(() => browser.close())
    const empty: number[] = []
    const filled: number[] = []
    for (let i = 0; i < VIEWS; i++) {
      const context = await browser.newContext({ viewport: { width: 1400, height: 900 } })
      const page = await context.newPage()
      // The printed link also signs in.
      for (const [times, url] of [
        [empty, serving.demo.console!],
        [filled, `${serving.demo.api}/console/runs`],
      ] as const) {
        const from = performance.now()
        await page.goto(url, { waitUntil: 'commit' })
        await page.locator('a[href*="/console/runs/"]').first().waitFor()
        times.push(Math.round(performance.now() - from))
        await page.goto('about:blank')
      }
      await context.close()
    }
    const median = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!
    const summary = {
      runs: count + 1,
      load: Math.round(10 * loadavg()[0]!) / 10,
      empty_cache_p50_ms: median(empty),
      empty_cache_ms: empty,
      filled_cache_p50_ms: median(filled),
      filled_cache_ms: filled,
    }
    line({ proof: 'first-view', ...summary })
    return { ok: Math.max(summary.empty_cache_p50_ms, summary.filled_cache_p50_ms) < SHOWN_MS, summary }
  })
}

/** Stores `count` copies of the run, each a second older than the one before. */
async function copyRun(url: string, runId: string, count: number): Promise<void> {
  const database = new Client({ connectionString: url })
  await database.connect()
  try {
    const { rows } = await database.query<{ name: string }>(
      `select column_name as name from information_schema.columns
       where table_schema = 'parley' and table_name = 'runs' and is_generated = 'NEVER'`,
    )
    const names = rows.map(({ name }) => name)
    const value = (name: string) =>
      name === 'run_id' ? 'gen_random_uuid()' : name === 'created_at' ? "created_at - i * interval '1 s'" : name
    await database.query(
      `insert into parley.runs (${names.join(', ')})
       select ${names.map(value).join(', ')} from parley.runs, generate_series(1, $2::integer) i where run_id = $1`,
      [runId, count],
    )
    await database.query('analyze parley.runs')
  } finally {
    await database.end()
  }
}
