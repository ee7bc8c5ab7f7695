import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { repositoryRoot } from '../../repository.ts'

/** An unpacked commit of the history, with its own workspaces and the installed npm packages of this checkout. */
interface EarlierCheckout {
  /** The file that Node runs as `parley`. */
  readonly program: string
  remove(): void
}

/** The reason why the commit is not available (no git, or a shallow history); null: it is. */
export function earlierCheckoutMissing(commit: string): string | null {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{tree}`], { cwd: repositoryRoot, stdio: 'ignore' })
    return null
  } catch {
    return `the commit ${commit} is not in the local history: run "git fetch --unshallow"`
  }
}

/** Throws with git's error output. */
export function earlierCheckout(commit: string): EarlierCheckout {
  const folder = mkdtempSync(join(tmpdir(), 'parley-earlier.'))
  const archive = join(folder, 'archive.tar')
  execFileSync('git', ['archive', '--output', archive, commit], { cwd: repositoryRoot })
  execFileSync('tar', ['-xf', archive, '-C', folder])
  rmSync(archive)
  linkPackages(folder)
  return {
    program: join(folder, 'packages/cli/src/main.ts'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Links the installed packages of this checkout, and `@parley/NAME` to the workspaces of `folder`. */
function linkPackages(folder: string): void {
  const shared = join(repositoryRoot, 'node_modules')
  const own = join(folder, 'node_modules')
  mkdirSync(join(own, '@parley'), { recursive: true })
  for (const name of readdirSync(shared))
    if (name !== '@parley' && !name.startsWith('.')) symlinkSync(join(shared, name), join(own, name))
  const { workspaces } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { workspaces: string[] }
  for (const file of globSync(
    workspaces.map(workspace => `${workspace}/package.json`),
    { cwd: folder },
  )) {
    const { name } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { name: string }
    symlinkSync(join(folder, dirname(file)), join(own, name))
    const installed = join(repositoryRoot, dirname(file), 'node_modules')
    if (existsSync(installed)) symlinkSync(installed, join(folder, dirname(file), 'node_modules'))
  }
}
