// The browser's part of web calls as a package that a site installs.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { repositoryRoot } from './repository.ts'

const WEB = join(repositoryRoot, 'packages/web')
const USE = `import { type AgentCall, type CallAccess, call, ParleyCallElement, siteAccess } from '@parley/web'
export const begin = async (key: string): Promise<AgentCall> => call(await siteAccess(key))
export const element: ParleyCallElement | null = document.querySelector<ParleyCallElement>('parley-call')
// @ts-expect-error: a token is missing
export const access: CallAccess = { url: 'https://parley.example' }
`
const OPTIONS = {
  target: 'es2022',
  lib: ['es2024', 'dom', 'dom.iterable'],
  types: [],
  module: 'nodenext',
  noEmit: true,
}

it('the packed browser part has its JavaScript and its types, and a strict TypeScript program uses them', () => {
  const packed = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: WEB, encoding: 'utf8' }),
  ) as [{ files: { path: string }[] }]
  const files = packed[0].files.map(({ path }) => path)
  expect(files).toContain('dist/parley-web.js')
  expect(files.filter(path => path.startsWith('src/'))).toEqual([])

  const site = mkdtempSync(join(tmpdir(), 'parley-site.'))
  onTestFinished(() => rmSync(site, { recursive: true, force: true }))
  const installed = join(site, 'node_modules/@parley/web')
  mkdirSync(installed, { recursive: true })
  for (const path of files) cpSync(join(WEB, path), join(installed, path))
  writeFileSync(join(site, 'package.json'), '{"type":"module"}')
  writeFileSync(join(site, 'use.ts'), USE)
  const compilerOptions = { ...OPTIONS, strict: true, exactOptionalPropertyTypes: true }
  writeFileSync(join(site, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['use.ts'] }))
  const tsc = join(repositoryRoot, 'node_modules/.bin/tsc')
  const { status, stdout } = spawnSync(tsc, ['--project', site, '--pretty', 'false'], { encoding: 'utf8' })
  expect([status, stdout]).toEqual([0, ''])
})
