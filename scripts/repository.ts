import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The checkout's folder. */
export const repositoryRoot = dirname(import.meta.dirname)

/** Folders of the workspaces, such as "sip" and "packages/kernel". */
export function workspaceFolders(): string[] {
  const { workspaces } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as {
    workspaces: string[]
  }
  return globSync(workspaces, { cwd: repositoryRoot }).filter(folder =>
    existsSync(join(repositoryRoot, folder, 'package.json')),
  )
}

/** Every TypeScript file of the project, tracked or new, relative to the root; test data is not code. */
export function typeScriptFiles(): string[] {
  return allFiles().filter(
    path => /\.tsx?$/.test(path) && !path.includes('/fixtures/') && existsSync(join(repositoryRoot, path)),
  )
}

function allFiles(): string[] {
  try {
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: repositoryRoot,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return [...new Set(listed.split('\0').filter(path => path !== ''))]
  } catch {
    // An unpacked archive, or no git on the machine.
    return globSync('**/*.{ts,tsx}', { cwd: repositoryRoot, exclude: path => path.includes('node_modules') })
  }
}
