// `npm test [-- PATH…]`: every check and every test, then a summary whose last line is "N passed, N failed, N skipped".
// `npm run check [-- PATH…]`: the same without what takes long: static checks and the group `unit` alone.
// With paths: only the tests in files whose path contains one of them, and no static checks. With `--group NAME`, which may be
// repeated: only the tests of that group of vitest.config.ts, and no static checks.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startVitest } from 'vitest/node'
import { repositoryRoot } from './repository.ts'
import {
  filesToRepeat,
  ResultCollector,
  seconds,
  summaryLines,
  type TestResult,
  timeLines,
  withSecondAttempt,
} from './test-results.ts'
import { REAL_TIME_WORKERS_NAME, realTimeWorkers, TEST_STEPS } from './test-steps.ts'

interface Stage {
  readonly name: string
  readonly command: readonly [string, ...string[]]
}

const bin = (name: string) => join(repositoryRoot, 'node_modules/.bin', name)

/**
 * Checks the types of one TypeScript project. What the last run found out about unchanged files is kept, which saves most of the CPU
 * time. One checker: several check shared types once each, and the tests use the other processors.
 */
function typeCheck(name: string, project: string): Stage {
  const known = join(repositoryRoot, 'node_modules/.cache/types', `${project.replaceAll('/', '-')}.tsbuildinfo`)
  const options = ['--noEmit', '--pretty', 'false', '--incremental', '--tsBuildInfoFile', known, '--checkers', '1']
  return { name, command: [bin('tsc'), '--project', project, ...options] }
}

const STAGES: readonly Stage[] = [
  typeCheck('type check', 'tsconfig.json'),
  typeCheck('type check of the console', 'console'),
  typeCheck('type check of the browser part of web calls', 'packages/web'),
  { name: 'lint', command: [bin('biome'), 'ci', '--colors=off', '.'] },
  { name: 'dependency rules', command: [process.execPath, 'scripts/dependency-rules.ts'] },
  { name: 'pure parts', command: [process.execPath, 'scripts/pure-check.ts'] },
]

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** A stage is one test: it passes when its command exits 0; its output is shown when it does not. */
function runStage(stage: Stage): Promise<TestResult> {
  const started = performance.now()
  const [program, ...args] = stage.command
  return new Promise(resolve => {
    const child = spawn(program, args, { cwd: repositoryRoot, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const collect = (chunk: Buffer) => {
      output += chunk
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.on('error', error => {
      output += String(error)
    })
    child.on('close', code => {
      const ok = code === 0
      print(`${stage.name}: ${ok ? 'ok' : 'FAILED'} (${seconds(performance.now() - started)})`)
      if (!ok) print(output.trimEnd())
      const lines = output.trim().split('\n')
      resolve({ name: stage.name, state: ok ? 'passed' : 'failed', reason: ok ? '' : `exit ${code}: ${lines.at(-1)}` })
    })
  })
}

/** Runs the groups named (vitest's projects), one after the other. */
async function runGroups(collector: ResultCollector, filters: readonly string[], groups: readonly string[]) {
  for (const group of filters.length > 0 ? [groups] : groups) {
    const vitest = await startVitest('test', [...filters], {
      root: repositoryRoot,
      watch: false,
      reporters: [collector],
      passWithNoTests: true,
      project: [group].flat(),
    })
    await vitest.close()
    if (group === 'unit') chooseWorkers(collector)
  }
}

/** The group `unit` has shown how fast the machine is: groups that follow read the number of their workers. */
function chooseWorkers(collector: ResultCollector): void {
  const workers = realTimeWorkers(collector.groups.find(({ group }) => group === 'unit')?.ms)
  process.env[REAL_TIME_WORKERS_NAME] = String(workers)
  if (workers < realTimeWorkers(undefined))
    print(`a slow machine: ${workers} files of the group "realtime" run at once`)
}

/** Runs the groups of `chosen`, by default all of them. Files that `filters` name run one group after the other. */
async function runTests(
  collector: ResultCollector,
  filters: readonly string[],
  chosen: readonly string[] = TEST_STEPS.flat(2),
): Promise<TestResult[]> {
  for (const step of filters.length > 0 ? [[chosen]] : TEST_STEPS) {
    const lists = step.map(groups => groups.filter(group => chosen.includes(group)))
    await Promise.all(lists.filter(({ length }) => length > 0).map(list => runGroups(collector, filters, list)))
  }
  const executed = collector.results.some(result => result.state !== 'skipped')
  if (executed) return collector.results
  return [...collector.results, { name: 'tests', state: 'failed', reason: 'not one test was executed' }]
}

/** Runs failed files once more, each alone: a real fault fails there again. */
async function secondAttempt(first: ResultCollector): Promise<TestResult[]> {
  const results: TestResult[] = []
  for (const file of filesToRepeat(first.results, first.files)) {
    print(`second attempt, alone: ${file}`)
    const collector = new ResultCollector(repositoryRoot, print)
    await runTests(collector, [file])
    results.push(...collector.results)
  }
  return results
}

/** `groups`: those whose tests run; undefined: all. `isStatic`: with the static checks. */
async function main(filters: readonly string[], groups: string[] | undefined, isStatic: boolean): Promise<void> {
  const started = performance.now()
  const staticTime = { group: 'static checks', files: 0, ms: 0, cpuMs: 0 }
  // Beside the group `unit`, which is the first and judges no times: one of the checks uses a single core for long.
  const checks = Promise.all(isStatic ? STAGES.map(runStage) : []).then(results => {
    staticTime.ms = performance.now() - started
    return results
  })
  print('tests:')
  const collector = new ResultCollector(repositoryRoot, print)
  const tested = await runTests(collector, filters, groups)
  const { results: settled, passedThen } = withSecondAttempt(tested, await secondAttempt(collector))
  const results: readonly TestResult[] = [...(await checks), ...settled]
  const times = isStatic ? [staticTime, ...collector.groups] : collector.groups
  print(`\n${timeLines(times, collector.files).join('\n')}`)
  print(`\nAll of it took ${seconds(performance.now() - started)}.`)
  const summary = summaryLines(results, passedThen).join('\n')
  const failed = results.some(result => result.state === 'failed')
  // Exits by itself only when the summary is out: a handle that a test left open must not hold it up.
  process.stdout.write(`${summary}\n`, () => process.exit(failed ? 1 : 0))
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean' }, group: { type: 'string', multiple: true } },
})
const groups = values.check === true ? ['unit'] : values.group
await main(positionals, groups, positionals.length === 0 && values.group === undefined)
