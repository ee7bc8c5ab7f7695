import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from './repository.ts'

/** A path from the root of the repository; NAME, VENDOR, RESOURCE and CODEC stand for what is new. */
const PATH = /`((?:packages|console|control-plane|interop|media|sip|scripts)\/[\w./-]+\.\w+)`/g
const PLACEHOLDER = /\b[A-Z]{2,}\b/
/** The table or list of a file that gets a line: `NODE_TYPES`. */
const CONSTANT = /`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)`/g

/** The section "How to add", one element for each line of a list or table, with the lines that continue it. */
function stepsOf(markdown: string): string[] {
  const [, section = ''] = /^## How to add$(.*?)^## /ms.exec(markdown) ?? []
  return section.split(/\n(?=\d+\. |\| |### |\n)/).filter(step => step.search(PATH) >= 0)
}

/** What a step names and the repository does not have. */
function missingIn(step: string): string[] {
  const paths = [...step.matchAll(PATH)].map(([, path]) => path!).filter(path => !PLACEHOLDER.test(path))
  const missing = paths.filter(path => !existsSync(join(repositoryRoot, path)))
  if (paths.length === 0 || missing.length > 0) return missing
  const code = paths.map(path => readFileSync(join(repositoryRoot, path), 'utf8')).join('\n')
  const named = [...step.matchAll(CONSTANT)].map(([, name]) => name!)
  return named.filter(name => !code.includes(name)).map(name => `${name} in ${paths.join(', ')}`)
}

describe('"How to add" in docs/architecture.md', () => {
  const steps = stepsOf(readFileSync(join(repositoryRoot, 'docs/architecture.md'), 'utf8'))

  it('every file and every list that it names exists', () => {
    expect(steps.length).toBeGreaterThan(15)
    expect(steps.flatMap(missingIn)).toEqual([])
  })

  it('a file that was renamed and a list that a file does not have are reported', () => {
    const markdown = [
      '## How to add',
      '1. `scripts/gone.ts`: one line.',
      '2. `packages/nodes/src/registry.ts`: one line in `NODE_TYPES`,',
      '   and one in `NODE_KINDS`.',
      '3. `packages/nodes/src/types/NAME.ts`: new.',
      '## Testing',
    ]
    expect(stepsOf(markdown.join('\n')).flatMap(missingIn)).toEqual([
      'scripts/gone.ts',
      'NODE_KINDS in packages/nodes/src/registry.ts',
    ])
  })
})
