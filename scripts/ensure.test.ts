import { execFile } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

/** A stub of npm that takes a moment, records its arguments and installs a Node of the given version. */
const npmStub = (version: string, exitCode: number) => `#!/bin/sh
echo "$*" >> npm-calls
sleep 0.3
[ ${exitCode} = 0 ] || { echo "npm error registry unreachable" >&2; exit ${exitCode}; }
rm -rf node_modules
mkdir -p node_modules/node/bin
printf '#!/bin/sh\\necho v${version}\\n' > node_modules/node/bin/node
chmod +x node_modules/node/bin/node
echo 'throw new Error("refused")' > node_modules/node/installArchSpecificPackage.js
cp package-lock.json node_modules/.package-lock.json
`

interface Ended {
  readonly code: number
  readonly stderr: string
}

describe('scripts/ensure.mjs', () => {
  let root = ''

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'parley-ensure.'))
    mkdirSync(join(root, 'scripts'))
    mkdirSync(join(root, 'bin'))
    for (const script of ['ensure.mjs', 'native-addon.mjs', 'console-build.mjs'])
      cpSync(join(import.meta.dirname, script), join(root, 'scripts', script))
    wantPackages('1')
    stubNpm('24.1.0')
  })

  afterEach(() => rmSync(root, { recursive: true, force: true }))

  function stubNpm(version: string, exitCode = 0): void {
    writeFileSync(join(root, 'bin/npm'), npmStub(version, exitCode))
    chmodSync(join(root, 'bin/npm'), 0o755)
  }

  function wantPackages(version: string): void {
    const lock = { packages: { '': {}, 'node_modules/a': { version } } }
    writeFileSync(join(root, 'package-lock.json'), JSON.stringify(lock))
  }

  function npmCalls(): string[] {
    const log = join(root, 'npm-calls')
    return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []
  }

  function ensure(...args: string[]): Promise<Ended> {
    const env = { ...process.env, PATH: `${join(root, 'bin')}:/usr/bin:/bin` }
    return new Promise(resolve => {
      execFile(process.execPath, [join(root, 'scripts/ensure.mjs'), ...args], { env }, (error, _stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), stderr }),
      )
    })
  }

  it('several processes at once install once, and a later one does and prints nothing', async () => {
    const all = await Promise.all([ensure(), ensure('--quiet'), ensure(), ensure('--quiet')])
    expect(all.map(ended => ended.code)).toEqual([0, 0, 0, 0])
    expect(npmCalls()).toEqual(['ci --no-audit --no-fund'])
    expect(existsSync(join(root, '.parley-ensure.lock'))).toBe(false)
    expect(await ensure()).toEqual({ code: 0, stderr: '' })
  })

  it('a changed lock file leads to a new installation', async () => {
    await ensure()
    wantPackages('2')
    await ensure('--quiet')
    expect(npmCalls()).toHaveLength(2)
  })

  it('a manual installation that matches the lock file is left as it is', async () => {
    await ensure()
    rmSync(join(root, 'node_modules/.parley-ensure'))
    expect((await ensure()).code).toBe(0)
    expect(npmCalls()).toHaveLength(1)
  })

  it('the lock of an installer that was killed is taken over', async () => {
    mkdirSync(join(root, '.parley-ensure.lock'))
    // Above the highest pid that Linux gives out.
    writeFileSync(join(root, '.parley-ensure.lock/pid'), '4194305')
    expect((await ensure()).code).toBe(0)
    expect(existsSync(join(root, '.parley-ensure.lock'))).toBe(false)
  })

  it('a failed npm ends with its output, and the next process tries again', async () => {
    stubNpm('24.1.0', 1)
    const failed = await ensure('--quiet')
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain('npm error registry unreachable')
    stubNpm('24.1.0')
    expect((await ensure()).code).toBe(0)
  })

  it('an installation without Node 24 fails with an instruction', async () => {
    stubNpm('20.0.0')
    const failed = await ensure()
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain('npm config set ignore-scripts false')
  })
})
