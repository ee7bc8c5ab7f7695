import { globSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import config from '../vitest.config.ts'
import { repositoryRoot } from './repository.ts'
import { realTimeWorkers, TEST_STEPS } from './test-steps.ts'

/** The patterns that stand behind the braces of one pattern: "a/{b,c}.ts" is "a/b.ts" and "a/c.ts". */
function alternatives(pattern: string): string[] {
  const braces = /\{([^{}]*)\}/.exec(pattern)
  if (braces === null) return [pattern]
  const [before, after] = [pattern.slice(0, braces.index), pattern.slice(braces.index + braces[0].length)]
  return braces[1]!.split(',').flatMap(choice => alternatives(before + choice + after))
}

/** Alternatives that match no file. */
function unmatched(patterns: readonly string[]): string[] {
  const exclude = (path: string) => path.includes('node_modules')
  return patterns
    .flatMap(alternatives)
    .filter(pattern => globSync(pattern, { cwd: repositoryRoot, exclude }).length === 0)
}

/** The patterns of the test files of one group. */
function patternsOf(group: string): readonly string[] {
  const projects = config.test?.projects ?? []
  for (const project of projects) {
    if (typeof project === 'object' && 'test' in project && project.test?.name === group)
      return project.test.include ?? []
  }
  return []
}

describe('the groups of tests in vitest.config.ts', () => {
  // Vitest ignores a pattern that matches nothing, and the test that it meant runs in another group.
  it.each(['slow', 'alone'])('every pattern of the group "%s" matches a test file', group => {
    const patterns = patternsOf(group)
    expect(patterns).not.toEqual([])
    expect(unmatched(patterns)).toEqual([])
  })

  it('"npm test" runs every group, and each once', () => {
    const groups = (config.test?.projects ?? []).map(project =>
      typeof project === 'object' && 'test' in project ? project.test?.name : undefined,
    )
    expect(TEST_STEPS.flat(2).toSorted()).toEqual(groups.toSorted())
  })

  it('a pattern that matches no file is reported, also one of several in braces', () => {
    expect(unmatched(['scripts/{repository,gone}.ts', 'scripts/*.ts', 'gone/**/*.ts'])).toEqual([
      'scripts/gone.ts',
      'gone/**/*.ts',
    ])
  })
})

describe('files of the group "realtime" that run at once', () => {
  it.each([
    ['not measured', undefined, 5],
    ['faster', 90_000, 5],
    ['slightly slower', 220_000, 5],
    ['twice as slow', 320_000, 3],
    ['three times as slow', 480_000, 2],
    ['ten times as slow', 1_600_000, 2],
  ])('on a machine that is %s, where "unit" took %s ms, %i run at once', (_, unitMs, workers) => {
    expect(realTimeWorkers(unitMs)).toBe(workers)
  })
})
