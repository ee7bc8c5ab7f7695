import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { repositoryRoot } from './repository.ts'

interface LockedPackage {
  readonly version?: string
  readonly optional?: boolean
  readonly engines?: { readonly node?: string }
}

/** A range that begins at Node 22 or later. */
const NEEDS_NEWER = /^\s*(>=|\^|~)?\s*(2[1-9]|[3-9]\d)\b/

const needsNewer = ({ optional, engines }: LockedPackage) =>
  optional === true && engines?.node !== undefined && NEEDS_NEWER.test(engines.node)

it('every optional package can be installed by Node 20, since npm leaves out those that cannot, and all that need them', () => {
  const lock = JSON.parse(readFileSync(join(repositoryRoot, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>
  }
  const found = Object.entries(lock.packages).flatMap(([path, locked]) =>
    needsNewer(locked) ? [`${path} ${locked.version} needs Node ${locked.engines!.node}: override its version`] : [],
  )
  expect(found).toEqual([])
  expect(needsNewer({ optional: true, engines: { node: '>=22' } })).toBe(true)
})
