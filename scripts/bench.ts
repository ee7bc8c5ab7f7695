// `npm run bench -- NAME [--out FILE] [options of the benchmark]`
// Prints JSON lines on standard output (and to FILE), the last one the summary, and progress on standard error. Exit code 0:
// the benchmark ran; 1: it could not run.
import { appendFileSync, globSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Benchmark } from './benchmarks/benchmark.ts'

const directory = join(import.meta.dirname, 'benchmarks')

async function load(name: string): Promise<Benchmark> {
  const names = globSync('*/benchmark.ts', { cwd: directory }).map(file => basename(join(file, '..')))
  if (!names.includes(name))
    throw new Error(
      `${name === '' ? 'the name of a benchmark is missing' : `there is no benchmark "${name}"`}; the benchmarks are ${names.sort().join(', ')}`,
    )
  const loaded = (await import(join(directory, name, 'benchmark.ts'))) as { benchmark: Benchmark }
  return loaded.benchmark
}

async function main(): Promise<void> {
  const [name = '', ...rest] = process.argv.slice(2)
  const benchmark = await load(name)
  const known = ['out', ...benchmark.options].map(option => [option, { type: 'string' }] as const)
  const { values } = parseArgs({ args: rest, options: Object.fromEntries(known) })
  const out = values.out as string | undefined
  if (out !== undefined) writeFileSync(out, '')
  const line = (record: object) => {
    const text = `${JSON.stringify(record)}\n`
    process.stdout.write(text)
    if (out !== undefined) appendFileSync(out, text)
  }
  const progress = (text: string) => process.stderr.write(`${name}: ${text}\n`)
  line(await benchmark.run({ option: option => values[option] as string | undefined, line, progress }))
}

try {
  await main()
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
