import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { SerializedError, UserConsoleLog } from 'vitest'
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node'

/** One line of the summary: a test, or a stage that counts as one. */
export interface TestResult {
  readonly name: string
  readonly state: 'passed' | 'failed' | 'skipped'
  /** Why it failed or was skipped. */
  readonly reason: string
  /** Its file, from the root of the repository. Default: it belongs to no file of tests. */
  readonly file?: string
}

/** Ending of the name of an error that no test awaited. */
const OUTSIDE = '> outside of any test'
/** More failed files than this are no accident of a busy machine. */
const MOST_REPEATED = 16

/**
 * The files whose tests run a second time, each alone: those in which a test failed, or in whose time an error came that no test
 * awaited. None when too many failed.
 */
export function filesToRepeat(results: readonly TestResult[], files: readonly FileTime[]): string[] {
  const failed = new Set(results.filter(result => result.state === 'failed').map(result => result.file))
  const repeated = files.filter(({ file }) => failed.has(file))
  return repeated.length > MOST_REPEATED ? [] : repeated.map(({ file }) => file)
}

/** What a second attempt changed: the results of all tests, and the names of those that passed only then. */
export function withSecondAttempt(
  first: readonly TestResult[],
  second: readonly TestResult[],
): { readonly results: readonly TestResult[]; readonly passedThen: readonly string[] } {
  const repeated = new Set(second.map(result => result.file))
  const isRepeated = (result: TestResult) => result.file !== undefined && repeated.has(result.file)
  const passed = new Set(second.filter(result => result.state === 'passed').map(result => result.name))
  const failedBefore = first.filter(result => isRepeated(result) && result.state === 'failed')
  return {
    results: [...first.filter(result => !isRepeated(result)), ...second],
    passedThen: failedBefore.map(result => result.name).filter(name => passed.has(name)),
  }
}

/**
 * A skip gives its reason: in its name, "… (skipped: reason)", or by `context.skip(reason)`. Without a reason it is a failure,
 * and so is what a forgotten `.only` hides.
 */
export function skipResult(name: string, note: string | undefined): TestResult {
  const inName = /\(skipped: (.*?)\)(?= > |$)/.exec(name)
  const reason = note ?? inName?.[1]
  if (reason === undefined) return { name, state: 'failed', reason: 'skipped without a reason' }
  return { name: inName === null ? name : name.replace(` ${inName[0]}`, ''), state: 'skipped', reason }
}

/** The last thing `npm test` prints; the very last line is read by machines. */
export function summaryLines(results: readonly TestResult[], passedThen: readonly string[] = []): string[] {
  const of = (state: TestResult['state']) => results.filter(result => result.state === state)
  const [passed, failed, skipped] = [of('passed'), of('failed'), of('skipped')]
  return [
    ...(skipped.length === 0 ? [] : ['', 'Skipped:']),
    ...skipped.map(result => `  ${result.name}: ${result.reason}`),
    ...(passedThen.length === 0 ? [] : ['', 'Failed beside other tests and passed alone:']),
    ...passedThen.map(name => `  ${name}`),
    ...(failed.length === 0 ? [] : ['', 'Failed:']),
    ...failed.map(result => `  ${result.name}: ${result.reason}`),
    '',
    `${passed.length} passed, ${failed.length} failed, ${skipped.length} skipped`,
  ]
}

/** How long one test file took, of the group (vitest's project) that it belongs to. */
interface FileTime {
  readonly group: string
  readonly file: string
  /** From the start of its imports to the end of its last hook. */
  readonly ms: number
  /** Processor time of its worker and of the processes that it started and that ended; 0 where the system does not say. */
  readonly cpuMs: number
}

/** A group of tests (vitest's project). `slow` runs at the same time as others (scripts/test-steps.ts). */
interface GroupTime {
  readonly group: string
  readonly files: number
  /** By the clock, from the start of its first file to the end of its last one. */
  readonly ms: number
  /** Processor time of its files. */
  readonly cpuMs: number
}

const SLOWEST_SHOWN = 20
/** Of what the tests of a file wrote to the console, the last so many pieces. */
const MOST_PRINTED = 100

/** Where the time of a run went: seconds by group, then the slowest files and those that compute longest. */
export function timeLines(groups: readonly GroupTime[], files: readonly FileTime[]): string[] {
  const slowest = files.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST_SHOWN)
  const busiest = files.filter(({ cpuMs }) => cpuMs > 0).toSorted((a, b) => b.cpuMs - a.cpuMs)
  const shown = busiest.slice(0, SLOWEST_SHOWN)
  const width = Math.max(0, ...groups.map(({ group }) => group.length))
  const right = (ms: number) => seconds(ms).padStart(9)
  return [
    'Seconds per group, and processor time of its workers and their processes:',
    ...groups.map(({ group, files, ms, cpuMs }) => {
      const count = files === 0 ? '' : `${right(cpuMs)}  ${files} ${files === 1 ? 'file' : 'files'}`
      return `  ${group.padEnd(width)}${right(ms)}${count}`
    }),
    ...(slowest.length === 0 ? [] : ['', `The ${slowest.length} slowest files:`]),
    ...slowest.map(({ group, file, ms }) => `${right(ms)}  ${file} (${group})`),
    ...(shown.length === 0 ? [] : ['', `The ${shown.length} files with the most processor time:`]),
    ...shown.map(({ group, file, cpuMs }) => `${right(cpuMs)}  ${file} (${group})`),
  ]
}

/** Prints a line per test file as it ends, and failures in full; collects every result and the time of each file. */
export class ResultCollector implements Reporter {
  readonly results: TestResult[] = []
  readonly files: FileTime[] = []
  /** By group, when its first file was queued and its last one ended. */
  readonly #spans = new Map<string, { readonly since: number; until: number }>()
  /** What tests wrote to the console, by the id of their file: shown when one of them fails. */
  readonly #printed = new Map<string, readonly string[]>()
  readonly #root: string
  readonly #print: (line: string) => void

  constructor(root: string, print: (line: string) => void) {
    this.#root = root
    this.#print = print
  }

  get groups(): readonly GroupTime[] {
    return [...this.#spans].map(([group, { since, until }]) => {
      const files = this.files.filter(file => file.group === group)
      const cpuMs = files.reduce((sum, file) => sum + file.cpuMs, 0)
      return { group, files: files.length, ms: until - since, cpuMs }
    })
  }

  onTestModuleQueued(module: TestModule): void {
    const now = performance.now()
    if (!this.#spans.has(module.project.name)) this.#spans.set(module.project.name, { since: now, until: now })
  }

  /** The id of a test begins with that of its file. */
  onUserConsoleLog({ content, taskId }: Pick<UserConsoleLog, 'content' | 'taskId'>): void {
    const [file = ''] = taskId?.split('_') ?? []
    const printed = this.#printed.get(file) ?? []
    this.#printed.set(file, [...printed, content.trimEnd()].slice(-MOST_PRINTED))
  }

  onTestModuleEnd(module: TestModule): void {
    const file = relative(this.#root, module.moduleId)
    const { cpuMs } = this.#addTime(file, module)
    const before = this.results.length
    this.#addErrors(file, module.errors(), file)
    for (const test of module.children.allTests()) this.#addTest(file, test)
    for (const suite of module.children.allSuites()) this.#addErrors(nameOf(file, suite), suite.errors(), file)
    const results = this.results.slice(before)
    const count = (state: TestResult['state']) => results.filter(result => result.state === state).length
    const skipped = count('skipped') === 0 ? '' : `, ${count('skipped')} skipped`
    if (count('failed') > 0) for (const text of this.#printed.get(module.id) ?? []) this.#print(indent(text))
    this.#printed.delete(module.id)
    const failed = count('failed') === 0 ? '' : `, ${count('failed')} FAILED`
    const times = `${seconds(module.diagnostic().duration)}, ${seconds(cpuMs)} of processors`
    this.#print(`  ${file}: ${count('passed')} passed${failed}${skipped} (${times})`)
  }

  onTestRunEnd(_modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    for (const error of unhandled) {
      // Vitest knows the file whose tests ran when a promise was rejected that nothing awaited.
      const path: unknown = error.VITEST_TEST_PATH
      const file = typeof path === 'string' ? relative(this.#root, path) : undefined
      this.#addErrors(`${file ?? 'no file'} ${OUTSIDE}`, [error], file)
    }
  }

  #addTime(file: string, module: TestModule): FileTime {
    const { collectDuration, setupDuration, duration } = module.diagnostic()
    const group = module.project.name
    const cpuMs = module.meta().cpuMs ?? 0
    const time = { group, file, ms: collectDuration + setupDuration + duration, cpuMs }
    this.files.push(time)
    const span = this.#spans.get(group)
    if (span !== undefined) span.until = performance.now()
    return time
  }

  #addTest(file: string, test: TestCase): void {
    const name = nameOf(file, test)
    const result = test.result()
    if (result.state === 'passed') this.results.push({ name, state: 'passed', reason: '', file })
    else if (result.state === 'failed') this.#addErrors(name, result.errors, file)
    // A test that never ran because a hook before it failed is the hook's failure, not a skip.
    else if (test.parent.type === 'suite' && test.parent.state() === 'failed' && hookFailed(test)) return
    else this.results.push({ ...skipResult(name, result.state === 'skipped' ? result.note : undefined), file })
  }

  #addErrors(name: string, errors: readonly SerializedError[], file?: string): void {
    if (errors.length === 0) return
    const reason = firstLine(errors[0]!.message)
    this.results.push({ name, state: 'failed', reason, ...(file !== undefined && { file }) })
    this.#print(`FAILED ${name}`)
    for (const error of errors) {
      const diff = typeof error.diff === 'string' ? `\n${error.diff}` : ''
      const text = `${error.name ?? 'Error'}: ${error.message}${diff}\n${this.#frames(error)}`
      this.#print(indent(stripVTControlCharacters(text)))
    }
  }

  /** Only the project's own frames: the first one is nearly always the line to look at. */
  #frames(error: SerializedError): string {
    const frames = (error.stack ?? '').split('\n').filter(line => line.trimStart().startsWith('at '))
    const own = frames.filter(line => line.includes(this.#root) && !line.includes('node_modules'))
    return own.map(line => line.trim().replaceAll(`${this.#root}/`, '')).join('\n')
  }
}

function hookFailed(test: TestCase): boolean {
  for (let at: TestCase['parent'] = test.parent; at.type === 'suite'; at = at.parent)
    if (at.errors().length > 0) return true
  return false
}

function nameOf(file: string, entity: TestCase | TestSuite): string {
  return `${file} > ${entity.fullName}`
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? ''
}

function indent(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map(line => `    ${line}`)
    .join('\n')
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
