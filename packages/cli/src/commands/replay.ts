import type { ResultFrom } from '@parley/client'
import { parseCommand, UsageError } from '../usage.ts'
import { withReadableMessage } from './agents-text.ts'
import { onlyArgument, runCommand, type Work } from './api-command.ts'
import { completed, POLL_MS, resultsOf, wholeNumber } from './test.ts'

const USAGE = 'parley replay RUN [--draft | --version N] [--agent AGENT] [--simulate] [--json]'
const HELP = [
  'Replays a recorded run: by default with its own version, where every decision must be the same, or with another version or the open draft,',
  'where it is exact until the first turn that changes. --simulate: a persona of the caller carries on from there. Exit code 1 if anything changed.',
]

const word = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const

/** Exit code 0: nothing changed; 1: something did, or the run cannot be replayed. */
export async function replay(args: string[]): Promise<number> {
  return runCommand(replayWork(args))
}

export function replayWork(args: string[], pollMs = POLL_MS): Work {
  const options = { version: word, agent: word, draft: flag, simulate: flag, json: flag } as const
  const { values, positionals } = parseCommand(args, options, USAGE, HELP)
  const run_id = onlyArgument(positionals, USAGE)
  const version = wholeNumber('--version', values.version, USAGE)
  if (values.draft && version !== undefined)
    throw new UsageError(`give --draft or --version, not both\nusage: ${USAGE}`)
  return async ({ client, print }) => {
    try {
      const { test_run_id } = await client.runs.replay({
        params: { run_id },
        body: {
          ...(version !== undefined && { version }),
          ...(values.draft && { draft: true }),
          ...(values.agent !== undefined && { agent_id: values.agent }),
          after_change: values.simulate ? 'simulate' : 'stop',
        },
      })
      const testRun = await completed(client, test_run_id, pollMs)
      const [replayed] = await resultsOf(client, test_run_id)
      const trial_id = replayed?.trials[0]?.trial_id
      if (trial_id === undefined) throw new Error(`the test run ${test_run_id} has no trial: it was cancelled`)
      const trial = await client.testRuns.trial({ params: { test_run_id, trial_id } })
      print(values.json ? `${JSON.stringify(trial)}\n` : replayText(trial, testRun.publication.version))
      return testRun.verdict === 'passed' ? 0 : 1
    } catch (error) {
      throw withReadableMessage(error)
    }
  }
}

function replayText({ changes, turns, error }: ResultFrom<'test_runs.trial'>, version: number): string {
  if (changes === null || turns === null) return `not replayed: ${error ?? 'the trial was cancelled'}\n`
  const exact = turns.filter(({ source }) => source === 'replayed').length
  const lines = changes.map(
    ({ turn, kind, before, after }) => `turn ${turn}  ${kind}\n  before: ${before ?? '-'}\n  after:  ${after ?? '-'}`,
  )
  const summary = changes.length === 0 ? 'nothing changed' : `${changes.length} changes`
  return [
    `version ${version}: ${exact} turns replayed, ${turns.length - exact} simulated; ${summary}`,
    ...lines,
    '',
  ].join('\n')
}
