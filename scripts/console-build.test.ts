// The console and the browser's part of web calls, as `scripts/ensure.mjs` builds them: in a copy of their sources.
import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from './repository.ts'

const COPIED = [
  'console',
  'packages/client',
  'packages/contract',
  'packages/nodes',
  'packages/web',
  'scripts/console-build.mjs',
  'scripts/web-build.mjs',
  'tsconfig.json',
  'package.json',
  'package-lock.json',
]
/** Of processor time: wall time says on a busy machine what else runs. */
const MOST_S = 15

describe('the build of console and browser part', () => {
  let root = ''

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'parley-console.'))
    const isSource = (path: string) => !/\/(node_modules|dist)$/.test(path)
    for (const path of COPIED)
      cpSync(join(repositoryRoot, path), join(root, path), { recursive: true, filter: isSource })
    symlinkSync(join(repositoryRoot, 'node_modules'), join(root, 'node_modules'))
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  /** What a function of `console-build.mjs` returns in a process of its own, and the processor time of it and its children, s. */
  function run(call: string): { readonly result: unknown; readonly seconds: number } {
    const script = `import('./scripts/console-build.mjs').then(build => console.log(JSON.stringify(build.${call})))`
    const output = execFileSync('bash', ['-c', '"$0" -e "$1" && times', process.execPath, script], {
      cwd: root,
      encoding: 'utf8',
    })
    const [result = '', , times = ''] = output.trim().split('\n')
    const seconds = [...times.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
      (sum, [, m, s]) => sum + 60 * Number(m) + Number(s),
      0,
    )
    return { result: JSON.parse(result), seconds }
  }
  const isSettled = () => run('consoleIsSettled()').result
  const built = (path: string) => join(root, path)

  it('takes at most 15 s of processor time, is made once for a state of the sources, and again when they change', () => {
    expect(isSettled()).toBe(false)
    const { result, seconds } = run('buildConsole(process.execPath)')
    expect(result).toMatch(/^the console is built after \d+ s$/)
    console.info(`the build took ${seconds.toFixed(1)} s of processor time`)
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThan(MOST_S)
    expect(readFileSync(built('console/dist/index.html'), 'utf8')).toContain('/console/assets/')
    expect(statSync(built('packages/web/dist/parley-web.js')).size).toBeGreaterThan(1000)
    expect(existsSync(built('packages/web/dist/index.d.ts'))).toBe(true)
    expect(isSettled()).toBe(true)

    appendFileSync(built('console/src/routes.test.ts'), '\n// Another test.\n')
    expect(isSettled()).toBe(true)
    for (const source of ['console/src/main.tsx', 'packages/web/src/index.ts', 'packages/contract/src/operations.ts']) {
      const before = readFileSync(built('console/dist/stamp'), 'utf8')
      appendFileSync(built(source), '\n// Another state.\n')
      expect([source, isSettled()]).toEqual([source, false])
      rmSync(built(source))
      cpSync(join(repositoryRoot, source), built(source))
      expect([source, isSettled(), readFileSync(built('console/dist/stamp'), 'utf8')]).toEqual([source, true, before])
    }
  })

  it('that fails is not tried again until the sources change, and says why', () => {
    appendFileSync(built('console/src/main.tsx'), '\nconst = 1\n')
    expect(run('buildConsole(process.execPath)').result).toMatch(
      /^the console is not built \(.+\); everything else runs/,
    )
    expect(existsSync(built('console/dist/index.html'))).toBe(false)
    expect(isSettled()).toBe(true)
    appendFileSync(built('console/src/main.tsx'), '\n// Mended.\n')
    expect(isSettled()).toBe(false)
  })
})
