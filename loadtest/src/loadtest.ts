import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { isSipUri, parseUri } from '@parley/sip'
import { LoadtestError } from './errors.ts'
import type { FleetTarget } from './fleet/fleet-messages.ts'
import { progressLine } from './fleet/report/progress-line.ts'
import { readScenario, type Scenario } from './fleet/scenario.ts'
import { runFleet } from './io/fleet-run.ts'
import { RunFiles } from './io/run-files.ts'
import { SHIPPED_SCENARIOS, shippedScenario } from './io/shipped-scenario.ts'

const USAGE = `usage: npm run loadtest -- SCENARIO --target sip:… [options]

SCENARIO is a YAML file, or the name of one of those that ship: ${SHIPPED_SCENARIOS.join(', ')}.

  --target URI            whom the phones call, such as "sip:token@127.0.0.1:5061;transport=tls"
  --ca FILE               certificate authority of the target, PEM; may be repeated
  --system-roots          trust the public certificate authorities as well
  --from URI              SIP URI of the callers
  --username NAME         account for digest authentication; its password is in the variable LOADTEST_PASSWORD
  --target-pid PID        measures CPU and memory of a process on this machine and its descendants; may be repeated
  --home FOLDER           keeps the phones' certificates; their authority is FOLDER/tls/ca.pem
  --out FOLDER            folder of the report; default loadtest-reports/NAME-TIME
  --set PATH=VALUE        changes a value of the scenario, such as load.hold_s=60; may be repeated

Prints progress on standard error and the summary as one line of JSON on standard output. Exit code 0: all goals were met; 1: one was
missed; 2: the test could not run.`

const OPTIONS = {
  target: { type: 'string' as const },
  ca: { type: 'string' as const, multiple: true, default: [] as string[] },
  'system-roots': { type: 'boolean' as const, default: false },
  from: { type: 'string' as const },
  username: { type: 'string' as const },
  'target-pid': { type: 'string' as const, multiple: true, default: [] as string[] },
  home: { type: 'string' as const },
  out: { type: 'string' as const },
  set: { type: 'string' as const, multiple: true, default: [] as string[] },
  help: { type: 'boolean' as const, default: false },
} satisfies ParseArgsOptionsConfig

type Values = ReturnType<typeof readArguments>['values']

function readArguments(args: readonly string[]) {
  return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
}

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args)
  const [name] = positionals
  if (values.help || name === undefined || positionals.length !== 1) throw new LoadtestError('usage', USAGE)
  const scenario = readScenario(await scenarioText(name), values.set)
  const target = await targetOf(values, scenario)
  const startedAt = new Date()
  const files = await RunFiles.open(values.out ?? join('loadtest-reports', folderName(scenario.name, startedAt)))
  const abort = new AbortController()
  const stop = () => abort.abort()
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  try {
    const { summary, samples } = await runFleet({
      scenario,
      target,
      targetPids: values['target-pid'].map(pidOf),
      home: values.home,
      onOpen: uris => process.stderr.write(`phones: ${uris.join(' ')}\n`),
      onCall: row => files.addCall(row),
      onSample: (sample, record) => {
        files.addSample(sample)
        showProgress(progressLine(sample, record.totals.figures()), sample.at_ms)
      },
      signal: abort.signal,
    })
    await files.finish(summary, samples, scenario.description)
    process.stderr.write(`\nreport: ${files.report}\n`)
    if (summary.breaking_point_text !== null) process.stderr.write(`${summary.breaking_point_text}\n`)
    if (summary.generator.late) process.stderr.write('The generator was late: these results may be its own doing.\n')
    process.stdout.write(`${JSON.stringify(summary)}\n`)
    return summary.missed_goals.length === 0 ? 0 : 1
  } finally {
    await files.close()
  }
}

async function scenarioText(name: string): Promise<string> {
  const path = shippedScenario(name) ?? name
  return readFile(path, 'utf8').catch(error => {
    throw new LoadtestError('bad_scenario', `the scenario "${name}" cannot be read: ${error.message}`)
  })
}

async function targetOf(values: Values, { direction }: Scenario): Promise<FleetTarget> {
  const uri = values.target ?? null
  if (uri === null && direction !== 'answers')
    throw new LoadtestError('usage', 'the phones of this scenario call: name whom with --target sip:…')
  for (const given of [uri, values.from ?? null]) {
    const parsed = given === null ? null : parseUri(given)
    if (parsed === undefined || (parsed !== null && !isSipUri(parsed)))
      throw new LoadtestError('bad_uri', `"${given}" is not a SIP URI, such as sip:token@host:5061;transport=tls`)
  }
  const password = process.env.LOADTEST_PASSWORD
  if (values.username !== undefined && password === undefined)
    throw new LoadtestError('usage', '--username needs its password in the variable LOADTEST_PASSWORD')
  return {
    uri: direction === 'answers' ? null : uri,
    ca: (await Promise.all(values.ca.map(path => readFile(path, 'utf8')))).join('\n'),
    systemRoots: values['system-roots'],
    credentials: values.username === undefined ? null : { username: values.username, password: password! },
    from: values.from ?? null,
  }
}

function pidOf(text: string): number {
  const pid = Number(text)
  if (!Number.isInteger(pid) || pid < 1)
    throw new LoadtestError('usage', `--target-pid takes the id of a process, not "${text}"`)
  return pid
}

/** On a terminal one line that is rewritten every second, elsewhere a line every ten seconds. */
function showProgress(line: string, atMs: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`)
  else if (Math.round(atMs / 1000) % 10 === 0) process.stderr.write(`${line}\n`)
}

function folderName(name: string, at: Date): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return `${plain}-${at.toISOString().replace(/[:.]/g, '-')}`
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`loadtest: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 2
}
