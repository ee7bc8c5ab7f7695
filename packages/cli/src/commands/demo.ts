import { join } from 'node:path'
import { ParleyClient } from '@parley/client'
import type { ReceivedEvent } from '@parley/examples'
import { systemTime } from '@parley/kernel'
import type { AnsweredCall, AnsweringPhoneOptions } from '@parley/phone'
import { PROCESS_ROLES } from '@parley/store'
import { DemoRun, until } from '../demo/demo-call.ts'
import { openDemoHome, removeDemoHome } from '../demo/demo-home.ts'
import { type DemoEvidence, demoResult, demoSummary } from '../demo/demo-report.ts'
import { readSettings } from '../environment.ts'
import { CliError } from '../errors.ts'
import { LineRecordings } from '../line-recordings.ts'
import { type Platform, startPlatform } from '../platform.ts'
import { problemLines } from '../problem-lines.ts'
import { stopSignals } from '../stop-signals.ts'
import { parseCommand } from '../usage.ts'

const USAGE = 'parley demo [--json]'
const HELP = [
  '',
  'Starts a temporary platform, lets the example clinic call a virtual phone, and prints the conversation live and then the',
  'results from the API. It takes about a minute and needs no API key. Exit code 0: the conversation reached its end.',
  '',
  '  --json  prints only the results, as one line of JSON',
]

type PrintLine = (line: string) => void

/**
 * Makes one complete call: starts a platform of its own, creates a run through the API that dials a virtual phone by a trunk
 * (TLS, digest authentication, SRTP), and prints what the API reports about the run. Exit code 0 only if the flow reached its
 * end node.
 */
export async function demo(args: string[]): Promise<number> {
  const { values } = parseCommand(args, { json: { type: 'boolean', default: false } }, USAGE, HELP)
  const began = performance.now()
  const printLine: PrintLine = values.json
    ? () => {}
    : line => void process.stdout.write(`${((performance.now() - began) / 1000).toFixed(2).padStart(6)} s  ${line}\n`)
  const settings = await openDemoHome(process.env)
  const recordings = join(readSettings(process.env).home, 'recordings')
  const phone = new CalledPhone(printLine)
  let platform: Platform | null = null
  try {
    printLine('starting a temporary platform: database, API, worker, engine and a virtual phone')
    const roles = new Set(PROCESS_ROLES)
    platform = await startPlatform(settings, {
      roles,
      printLine: () => {},
      logLevel: 'warn',
      phoneEvents: phone.events,
    })
    const evidence = await Promise.race([converse(platform, phone, recordings, printLine), interruption()])
    const text = values.json ? JSON.stringify(demoResult(evidence)) : ['', ...demoSummary(evidence)].join('\n')
    process.stdout.write(`${text}\n`)
    return evidence.run.outcome?.kind === 'completed' ? 0 : 1
  } finally {
    await platform?.close()
    await removeDemoHome(settings.home)
  }
}

async function interruption(): Promise<never> {
  throw new CliError('interrupted', `the call was ended because of the signal ${await stopSignals().first}`)
}

async function converse(
  platform: Platform,
  phone: CalledPhone,
  recordings: string,
  printLine: PrintLine,
): Promise<DemoEvidence> {
  const { api, workspace, seeded, phone: to } = platform
  const [agent] = seeded
  if (api === null || workspace === null || agent === undefined || to === null)
    throw new CliError('demo_failed', 'the demo workspace has no published agent, or the built-in phone did not start')
  const { agentId } = agent
  printLine(`POST ${api.url}/api/v1/runs: the agent "${agentId}" calls ${to}`)
  const run = await DemoRun.place({ api: api.url, key: workspace.key, agentId, to })
  printLine(`run ${run.id} created`)
  const timeline = await run.follow(printLine)
  const client = new ParleyClient({ baseUrl: api.url, key: workspace.key })
  const readBack = await run.readBack(recordings)
  const onProblem = problemLines('demo')
  await new LineRecordings({ directory: recordings, time: systemTime, wallClock: Date.now, onProblem }).trim()
  return { ...readBack, timeline, transport: phone.transport, webhooks: await webhooksOf(client, readBack.run) }
}

/** The webhooks about the run that the example server received, once `run.ended` is among them. */
async function webhooksOf(client: ParleyClient, run: DemoEvidence['run']): Promise<readonly ReceivedEvent[]> {
  const { version } = run.publication
  const { plan } = await client.publications.get({ params: { agent_id: run.agent_id, version } })
  const { notification } = plan
  if (notification === null) return []
  const read = async () => {
    const response = await fetch(`${notification.url}?run_id=${run.run_id}`)
    return ((await response.json()) as { readonly events: readonly ReceivedEvent[] }).events
  }
  return until(read, events => events.some(({ event }) => event === 'run.ended'))
}

/** The called phone; prints what it does. */
class CalledPhone {
  readonly events: Pick<AnsweringPhoneOptions, 'onCall' | 'onStep'>
  #call: AnsweredCall | null = null

  constructor(printLine: PrintLine) {
    this.events = {
      onCall: call => {
        this.#call = call
        printLine('phone: ringing')
        void call.ended.then(({ failure }) => {
          if (failure === null) return
          printLine(`phone: ${failure.message}`)
          process.stderr.write(`${failure.message}\n`)
        })
      },
      onStep: (_, description, { type }) => {
        if (type === 'say' || type === 'press' || type === 'interrupt') printLine(`phone: ${description}`)
      },
    }
  }

  /** Transports of the call; null: the phone was not called. */
  get transport(): DemoEvidence['transport'] {
    return this.#call?.transport ?? null
  }
}
