// `npm run proof -- NAME [--seed N] [--count N] [--seconds N] [--out FILE]`
// Prints JSON lines on standard output (and to FILE), the last one the summary, and progress on standard error. Exit code 0:
// the proof passed; 1: it failed; 2: it could not run.
import { randomInt } from 'node:crypto'
import { appendFileSync, globSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Proof } from './proofs/proof.ts'

const directory = join(import.meta.dirname, 'proofs')

async function load(name: string): Promise<Proof> {
  const names = globSync('*.ts', { cwd: directory })
    .map(file => basename(file, '.ts'))
    .filter(file => file !== 'proof' && !file.endsWith('.test'))
  if (!names.includes(name))
    throw new Error(
      `${name === '' ? 'the name of a proof is missing' : `there is no proof "${name}"`}; the proofs are ${names.sort().join(', ')}`,
    )
  const loaded = (await import(join(directory, `${name}.ts`))) as { proof: Proof }
  return loaded.proof
}

function wholeNumber(option: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  if (!/^\d{1,15}$/.test(text)) throw new Error(`--${option} takes a whole number, not "${text}"`)
  return Number(text)
}

async function main(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seed: { type: 'string' },
      count: { type: 'string' },
      seconds: { type: 'string' },
      out: { type: 'string' },
    },
  })
  const proof = await load(positionals[0] ?? '')
  const seed = wholeNumber('seed', values.seed, randomInt(2 ** 32))
  if (values.out !== undefined) writeFileSync(values.out, '')
  const line = (record: object) => {
    const text = `${JSON.stringify(record)}\n`
    process.stdout.write(text)
    if (values.out !== undefined) appendFileSync(values.out, text)
  }
  const progress = (text: string) => process.stderr.write(`${proof.name}: ${text}\n`)
  progress(`started with seed ${seed}`)
  const { ok, summary } = await proof.run({
    seed,
    count: wholeNumber('count', values.count, proof.count),
    seconds: wholeNumber('seconds', values.seconds, proof.seconds),
    line,
    progress,
  })
  line({ proof: proof.name, seed, ok, ...summary })
  return ok
}

try {
  process.exitCode = (await main()) ? 0 : 1
} catch (error) {
  process.stderr.write(`proof: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 2
}
