import { join } from 'node:path'
import { readSettings, type Settings, unknownSettings } from '../environment.ts'
import { nextSignal } from '../next-signal.ts'
import { LINE_TEST, type Platform, ROLES, type RoleName, startPlatform } from '../platform.ts'
import { makeHome } from '../start-faults.ts'
import { parseCommand, UsageError } from '../usage.ts'
import { pathIn } from '../workspace/demo-file.ts'
import { leaveDemoFile } from '../workspace/leave-demo-file.ts'
import { aboutReadyCall } from '../workspace/ready-call.ts'

const USAGE = 'parley serve [--role api,engine,worker]'

/**
 * Runs until SIGTERM, after which live calls continue to their end (`PARLEY_DRAIN_MS` at most) and no new ones are accepted, or until
 * SIGINT, which ends them.
 */
export async function serve(args: string[]): Promise<number> {
  const { values } = parseCommand(args, { role: { type: 'string', default: ROLES.join(',') } }, USAGE)
  const roles = rolesOf(values.role)
  const settings = readSettings(process.env)
  for (const name of unknownSettings(process.env))
    tell(`${name} is no setting of Parley, and ignored: see docs/operations.md.`)
  await makeHome(settings.home)
  const platform = await startPlatform(settings, { roles, tell })
  try {
    await announce(settings, platform)
    const signal = await nextSignal()
    tell(signal === 'SIGTERM' ? `${signal}: no new calls; those that live go on to their end` : `${signal}: ending`)
    if (signal === 'SIGTERM') await platform.drain(settings.drainMs)
    return 0
  } finally {
    await platform.close()
  }
}

const tell = (line: string) => void process.stdout.write(`${line}\n`)

function rolesOf(text: string): ReadonlySet<RoleName> {
  const named = text.split(',').map(role => role.trim())
  for (const role of named)
    if (!ROLES.some(known => known === role))
      throw new UsageError(`--role: there is no role "${role}"; there are ${ROLES.join(', ')}`)
  return new Set(named as RoleName[])
}

/** The last line of a start, which scripts wait for. */
const READY = 'Parley is ready.'

async function announce(settings: Settings, platform: Platform): Promise<void> {
  const { api, workspace, seeded, phone, sip } = platform
  const calls = sip === null ? [] : seeded.map(({ plan, sip: own }) => [plan.name, sip.uri(tokenOf(own))] as const)
  const [first] = seeded
  if (api !== null) {
    const named = await leaveDemoFile(settings.home, {
      api: api.url,
      key: workspace?.key ?? null,
      console: null,
      sip: calls[0]?.[1] ?? sip?.uri(sip.lineToken) ?? null,
      agent_id: first?.agentId ?? null,
      number: first?.number ?? null,
      phone,
    })
    if (named !== api.url)
      tell(`Another process of this home is at ${named}: ${pathIn(settings.home)} goes on naming it.`)
  }
  tell(
    [
      ...(api === null || workspace === null ? [] : aboutApi(api.url, workspace.key)),
      ...(api !== null && workspace !== null && phone !== null && first !== undefined
        ? aboutReadyCall({ api: api.url, key: workspace.key, agentId: first.agentId, to: phone })
        : []),
      ...(sip === null ? [] : aboutCalls(settings, [...calls, [LINE_TEST, sip.uri(sip.lineToken)]], sip.authorityFile)),
      READY,
      '',
    ].join('\n'),
  )
}

function aboutApi(url: string, key: string): string[] {
  return [
    `API            ${url}/api/v1   (reference ${url}/docs, tools ${url}/mcp)`,
    `admin key      ${key}`,
    '',
    'The agents of the workspace:',
    `  curl -H 'Authorization: Bearer ${key}' ${url}/api/v1/agents`,
    '',
  ]
}

function aboutCalls(
  settings: Settings,
  addresses: readonly (readonly [about: string, uri: string])[],
  authorityFile: string | null,
): string[] {
  return [
    'Call with any phone that speaks SIP over TLS with SRTP (SDES, PCMU or PCMA):',
    '',
    ...addresses.flatMap(([about, uri]) => [`  ${about}`, `  ${uri}`, '']),
    "The built-in recogniser hears only Parley's own phone; with any other phone, go through the clinic by its keys (press 1).",
    '',
    `  certificate authority  ${authorityFile ?? 'a public one'}`,
    `  recordings             ${join(settings.home, 'blobs', 'recordings')}, or by the API`,
    '',
    `No phone at hand?  npx parley call '${addresses[0]![1]}' --say 'I would like to book an appointment.'`,
    '',
  ]
}

function tokenOf(sip: string): string {
  return sip.slice('sip:'.length, sip.indexOf('@'))
}
