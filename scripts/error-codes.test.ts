import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from './repository.ts'

/** An entry of a table of error codes (`errorsOf`). */
const ENTRY = /^ {2}(\w+): \{ retryable: (true|false),/gm

/** By code: the tables that have it, with what they say of it. */
function entriesByCode(tables: Readonly<Record<string, string>>): Map<string, { table: string; retryable: boolean }[]> {
  const entries = new Map<string, { table: string; retryable: boolean }[]>()
  for (const [table, text] of Object.entries(tables))
    for (const [, code, retryable] of text.matchAll(ENTRY))
      entries.set(code!, [...(entries.get(code!) ?? []), { table, retryable: retryable === 'true' }])
  return entries
}

function contradictions(tables: Readonly<Record<string, string>>): string[] {
  return [...entriesByCode(tables)].flatMap(([code, entries]) =>
    new Set(entries.map(({ retryable }) => retryable)).size < 2
      ? []
      : [`${code}: ${entries.map(({ table, retryable }) => `${retryable} in ${table}`).join(', ')}`],
  )
}

describe('the tables of error codes', () => {
  it('an error code that several packages use is retryable in all of them or in none', () => {
    const exclude = (path: string) => path.includes('node_modules')
    const paths = globSync('{sip,media,control-plane,loadtest,packages/*}/src/errors.ts', {
      cwd: repositoryRoot,
      exclude,
    })
    const tables = Object.fromEntries(paths.map(path => [path, readFileSync(join(repositoryRoot, path), 'utf8')]))
    expect(entriesByCode(tables).size).toBeGreaterThan(100)
    expect(contradictions(tables)).toEqual([])
  })

  it('a code that is retryable in one table and not in another is reported', () => {
    const entry = (retryable: boolean) => `  busy: { retryable: ${retryable}, text: 'Busy.' },`
    expect(contradictions({ one: entry(true), two: entry(false) })).toEqual(['busy: true in one, false in two'])
  })
})
