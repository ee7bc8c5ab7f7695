import { join } from 'node:path'
import { PROCESS_ROLES, type ProcessRole } from '@parley/store'
import { readSettings, type Settings, unknownSettings } from '../environment.ts'
import { localServerLines } from '../local-servers.ts'
import { releaseMemoryOfStart } from '../memory-of-start.ts'
import { LINE_TEST, type Platform, startPlatform } from '../platform.ts'
import { type LocalSpeech, startLocalSpeech } from '../speech/local-speech.ts'
import { makeHome } from '../start-faults.ts'
import { exitOnSignal, stopSignals } from '../stop-signals.ts'
import { parseCommand, UsageError } from '../usage.ts'
import { claimDemoFile } from '../workspace/claim-demo-file.ts'
import { demoFilePath } from '../workspace/demo-file.ts'
import { exampleRequest, exampleRequestLines } from '../workspace/example-request.ts'

const USAGE = 'parley serve [--role api,engine,worker]'
const HELP = [
  '',
  'Starts the platform and prints its addresses; the last line is "Parley is ready.".',
  '',
  '  --role  the roles of this process; default all: api (HTTP API), engine (phone calls), worker (chats, webhooks, sweeps)',
  '',
  'SIGINT (Ctrl-C) ends live calls and stops; SIGTERM lets live calls finish first, and a second signal ends them.',
  'Settings are environment variables: see docs/operations.md.',
]

/**
 * Runs until a signal. After SIGTERM new calls are refused and live calls may continue for `PARLEY_DRAIN_MS`, or until a second
 * signal; SIGINT ends live calls at once. A further signal ends the process without closing anything but the embedded database.
 */
export async function serve(args: string[]): Promise<number> {
  const { values } = parseCommand(args, { role: { type: 'string', default: PROCESS_ROLES.join(',') } }, USAGE, HELP)
  const roles = rolesOf(values.role)
  const settings = readSettings(process.env)
  for (const name of unknownSettings(process.env))
    printLine(`The variable ${name} is ignored: Parley has no such setting. docs/operations.md lists the settings.`)
  await makeHome(settings.home)
  const endStart = exitOnSignal()
  const local = await startLocalSpeech(settings, printLine)
  const platform = await startPlatform(local.settings, { roles, printLine }).catch(async (error: unknown) => {
    await local.close()
    throw error
  })
  const signals = stopSignals()
  endStart()
  try {
    releaseMemoryOfStart()
    await announce(settings, platform, local)
    const signal = await signals.first
    printLine(
      signal === 'SIGTERM'
        ? `${signal}: new calls are refused; the process stops when the live calls have ended.`
        : `${signal}: live calls end and the process stops.`,
    )
    await Promise.race([signal === 'SIGTERM' ? platform.drain(settings.drainMs) : null, signals.end])
    return 0
  } finally {
    await platform.close()
    await local.close()
  }
}

const printLine = (line: string) => void process.stdout.write(`${line}\n`)

function rolesOf(text: string): ReadonlySet<ProcessRole> {
  const named = text.split(',').map(role => role.trim())
  for (const role of named)
    if (!PROCESS_ROLES.some(known => known === role))
      throw new UsageError(`--role takes ${PROCESS_ROLES.join(', ')}, separated by commas, not "${role}"`)
  return new Set(named as ProcessRole[])
}

/** The last line that a start prints; scripts wait for it. */
const READY = 'Parley is ready.'

async function announce(settings: Settings, platform: Platform, { line, settings: used }: LocalSpeech): Promise<void> {
  const { api, workspace, seeded, phone, sip } = platform
  const calls = sip === null ? [] : seeded.map(({ plan, sip: own }) => [plan.name, sip.uri(tokenOf(own))] as const)
  const [first] = seeded
  const sipUri = calls[0]?.[1] ?? sip?.uri(sip.lineToken)
  if (api !== null) {
    const named = await claimDemoFile(settings.home, {
      api: api.url,
      key: workspace?.key ?? null,
      console: signInUrl(api.consoleUrl, workspace?.key ?? null),
      sip: sipUri ?? null,
      agent_id: first?.agentId ?? null,
      number: first?.number ?? null,
      phone,
    })
    if (named !== api.url)
      printLine(
        `Another process of this home serves the API at ${named}. The commands "parley agents" and "parley runs" use that one (${demoFilePath(settings.home)}).`,
      )
  }
  const local = [...(await localServerLines(settings.vendors)), ...(line === null ? [] : [line])]
  const consoleUrl = signInUrl(api?.consoleUrl ?? null, workspace?.key ?? null)
  const example =
    api !== null && workspace !== null && phone !== null && first !== undefined
      ? { api: api.url, key: workspace.key, agentId: first.agentId, to: phone }
      : null
  printLine(
    [
      ...(consoleUrl === null ? [] : [`console        ${consoleUrl}`]),
      ...(sipUri === undefined ? [] : [`SIP            ${sipUri}`]),
      ...(example === null ? [] : [exampleRequest(example)]),
      '',
      ...(api === null || workspace === null ? [] : apiLines(api.url, workspace.key)),
      ...(example === null ? [] : exampleRequestLines(example)),
      ...(local.length === 0 ? [] : [...local, '']),
      ...(sip === null ? [] : sipLines(used, [...calls, [LINE_TEST, sip.uri(sip.lineToken)]], sip.authorityFile)),
      READY,
      '',
    ].join('\n'),
  )
}

/**
 * The address of the console. On loopback its fragment signs in with the key of the demo workspace: the browser sends no fragment
 * to a server, and the page removes it from the address.
 */
function signInUrl(url: string | null, key: string | null): string | null {
  if (url === null || key === null) return url
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)
  return isLoopback ? `${url}#key=${key}` : url
}

function apiLines(url: string, key: string): string[] {
  return [
    `API            ${url}/api/v1   (reference: ${url}/docs, MCP: ${url}/mcp)`,
    `admin key      ${key}`,
    '',
    'List the agents of the demo workspace:',
    `  curl -H 'Authorization: Bearer ${key}' ${url}/api/v1/agents`,
    '',
  ]
}

function sipLines(
  settings: Settings,
  addresses: readonly (readonly [title: string, uri: string])[],
  authorityFile: string | null,
): string[] {
  return [
    'Call these addresses with a SIP phone that supports TLS and SRTP (SDES; PCMU or PCMA):',
    '',
    ...addresses.flatMap(([title, uri]) => [`  ${title}`, `  ${uri}`, '']),
    'local_stt' in settings.vendors
      ? 'The examples understand everybody who speaks a language of the local recogniser.'
      : 'The built-in recogniser understands only Parley\'s own phone. With any other phone, use the clinic by its keys (press 1), or run "npx parley speech install" first.',
    '',
    `  certificate authority  ${authorityFile ?? 'a public one'}`,
    `  recordings             ${join(settings.home, 'blobs', 'recordings')} (or through the API)`,
    '',
    'Or call with the virtual phone of this command:',
    `  npx parley call '${addresses[0]![1]}' --say 'I would like to book an appointment.'`,
    '',
  ]
}

function tokenOf(sip: string): string {
  return sip.slice('sip:'.length, sip.indexOf('@'))
}
