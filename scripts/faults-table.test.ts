import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from './repository.ts'

interface Row {
  readonly fault: string
  /** The cell under "test". */
  readonly tests: string
}

/** The rows of all tables of `docs/faults.md`. */
function rowsOf(markdown: string): Row[] {
  const rows: Row[] = []
  let column = -1
  for (const line of markdown.split('\n')) {
    if (!line.startsWith('|')) {
      column = -1
      continue
    }
    // A table's first line names its columns, the second one is dashes.
    const cells = line.split('|').slice(1, -1)
    const names = cells.map(cell => cell.trim())
    if (column === -1) column = names.indexOf('test')
    else if (!/^-+$/.test(names[0]!)) rows.push({ fault: names[0]!, tests: names[column]! })
  }
  return rows
}

const tests = globSync('**/*.test.ts', { cwd: repositoryRoot, exclude: path => path.includes('node_modules') })
const names = new Set(tests.map(path => basename(path)))

/** Test files that the cell names and that do not exist: a path or pattern from the root, or a file's name alone. */
function unknownTests(cell: string): string[] {
  const named = [...cell.matchAll(/`([^`]+\.test\.ts)`/g)].map(([, path]) => path!)
  const exists = (path: string) =>
    path.includes('/') ? globSync(path, { cwd: repositoryRoot }).length > 0 : names.has(path)
  return named.filter(path => !exists(path))
}

describe('docs/faults.md', () => {
  const rows = rowsOf(readFileSync(join(repositoryRoot, 'docs/faults.md'), 'utf8'))

  it('every row names a test of "npm test"', () => {
    expect(rows.length).toBeGreaterThan(30)
    expect(rows.filter(({ tests }) => !/\.test\.ts`|^the same/.test(tests)).map(({ fault }) => fault)).toEqual([])
  })

  it('every named test file exists', () => {
    expect(rows.flatMap(({ tests }) => unknownTests(tests))).toEqual([])
  })

  it('every named proof is one of "npm run proof"', () => {
    const proofs = rows.flatMap(({ tests }) => [...tests.matchAll(/proof `([^`]+)`/g)].map(([, name]) => name!))
    expect(proofs.filter(name => !existsSync(join(repositoryRoot, `scripts/proofs/${name}.ts`)))).toEqual([])
  })
})
