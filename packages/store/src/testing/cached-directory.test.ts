import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cachedDirectory } from './cached-directory.ts'

let parent: string
let path: string

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'parley-cache-'))
  path = join(parent, 'made')
})
afterEach(() => rm(parent, { recursive: true, force: true }))

const write = (text: string) => (directory: string) => writeFile(join(directory, 'file'), text)
const content = () => readFile(join(path, 'file'), 'utf8')

describe('a cached directory', () => {
  it('a cached directory is made once', async () => {
    await cachedDirectory(path, write('first'))
    await cachedDirectory(path, write('second'))
    expect(await content()).toBe('first')
    expect(await readdir(parent)).toEqual(['made'])
  })

  it('a directory that two make at once is that of one of them, whole', async () => {
    const first = Promise.withResolvers<void>()
    const slow = cachedDirectory(path, async directory => {
      await write('slow, ')(directory)
      await first.promise
      await write('slow, whole')(directory)
    })
    await cachedDirectory(path, write('quick'))
    first.resolve()
    await slow
    expect(await content()).toBe('quick')
    expect(await readdir(parent)).toEqual(['made'])
  })

  it('a maker that fails leaves nothing, and the next one makes the directory', async () => {
    const failing = cachedDirectory(path, async directory => {
      await write('half')(directory)
      throw new Error('planted')
    })
    await expect(failing).rejects.toThrow('planted')
    expect(await readdir(parent)).toEqual([])
    await cachedDirectory(path, write('whole'))
    expect(await content()).toBe('whole')
  })

  it('what a killed maker left is removed after a day, and is never used', async () => {
    const dayAgo = new Date(Date.now() - 90_000_000)
    for (const [name, time] of [
      ['made.old', dayAgo],
      ['made.new', new Date()],
    ] as const) {
      await mkdir(join(parent, name))
      await write('half')(join(parent, name))
      await utimes(join(parent, name), time, time)
    }
    await cachedDirectory(path, write('whole'))
    expect(await content()).toBe('whole')
    expect((await readdir(parent)).sort()).toEqual(['made', 'made.new'])
  })
})
