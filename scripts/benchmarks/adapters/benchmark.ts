import { type ChildProcess, fork } from 'node:child_process'
import type { Benchmark, BenchmarkOptions } from '../benchmark.ts'
import type { AdapterSubject, CallFigures, FakeReady } from './subject.ts'
import { SUBJECTS, subjectByName } from './subjects.ts'

const CALLS = 50
const SECONDS = 30
const WARM_UP_SECONDS = 5
const START_MS = 20_000

/**
 * Measures the CPU time of service adapters per second of audio, with many calls at once over local connections to a fake service
 * in another process: `npm run bench -- adapters [--adapter NAME] [--calls 50] [--seconds 30]`.
 */
export const benchmark: Benchmark = { name: 'adapters', options: ['adapter', 'calls', 'seconds'], run }

async function run({ option, line, progress }: BenchmarkOptions): Promise<object> {
  const name = option('adapter')
  const calls = Number(option('calls') ?? CALLS)
  if (!(Number.isInteger(calls) && calls >= 1 && calls <= 1000)) throw new Error('--calls takes 1 to 1000')
  const seconds = Number(option('seconds') ?? SECONDS)
  if (!(seconds >= 1 && seconds <= 3600)) throw new Error('--seconds takes 1 to 3600')
  const costs: Record<string, number> = {}
  for (const subject of name === undefined ? SUBJECTS : [subjectByName(name)]) {
    progress(`${subject.name}: ${calls} calls of ${seconds} s`)
    const figures = await measure(subject, calls, seconds)
    line({ bench: 'adapters', adapter: subject.name, ...figures })
    costs[subject.name] = figures.cpu_ms_per_audio_s
  }
  return { bench: 'adapters', calls, cpu_ms_per_audio_s: costs }
}

async function measure(subject: AdapterSubject, calls: number, seconds: number) {
  const { child, url } = await startFake(subject.name)
  const adapter = subject.open(url)
  const round = (length: number) => Promise.all(Array.from({ length: calls }, () => adapter.call(length)))
  try {
    await round(WARM_UP_SECONDS)
    const [cpu, started] = [process.cpuUsage(), performance.now()]
    const done = await round(seconds)
    const { user, system } = process.cpuUsage(cpu)
    return { calls, ...summed(done, (user + system) / 1000), elapsed_s: round2((performance.now() - started) / 1000) }
  } finally {
    await adapter.close()
    child.disconnect()
  }
}

function summed(done: readonly CallFigures[], cpuMs: number) {
  const audioS = done.reduce((sum, { audioS: one }) => sum + one, 0)
  const first = done.flatMap(({ firstMs }) => firstMs).toSorted((a, b) => a - b)
  const quantile = (share: number) => round2(first[Math.floor(share * (first.length - 1))] ?? 0)
  return {
    audio_s: round2(audioS),
    cpu_ms: round2(cpuMs),
    cpu_ms_per_audio_s: round2(cpuMs / audioS),
    first_ms: { p50: quantile(0.5), p95: quantile(0.95) },
  }
}

async function startFake(name: string): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = fork(new URL('./fake-process.ts', import.meta.url), [name], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const { promise, resolve, reject } = Promise.withResolvers<FakeReady>()
  const timer = setTimeout(() => reject(new Error(`the fake of ${name} does not start`)), START_MS)
  child.once('message', message => resolve(message as FakeReady))
  child.once('exit', code => reject(new Error(`the fake of ${name} ended with ${code}`)))
  try {
    return { child, url: (await promise).url }
  } catch (error) {
    child.kill()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function round2(value: number): number {
  return Math.round(value * 100) / 100
}
