import { VirtualTime } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { SystemAddresses } from './system-addresses.ts'

/** A resolver whose answers the test controls. */
function scripted() {
  const lookups: string[] = []
  const answers = new Map<string, PromiseWithResolvers<readonly string[]>>()
  const time = new VirtualTime()
  const system = new SystemAddresses(time, host => {
    lookups.push(host)
    const answer = Promise.withResolvers<readonly string[]>()
    answers.set(host, answer)
    return answer.promise
  })
  return { time, system, lookups, answers }
}

describe('the resolver of the system', () => {
  it('the resolver of the system resolves localhost', async () => {
    expect(await new SystemAddresses(new VirtualTime()).resolve('localhost')).toContain('127.0.0.1')
  })

  it('the resolver of the system looks a name up once for simultaneous requests, and again afterwards', async () => {
    const { system, lookups, answers } = scripted()
    const both = [system.resolve('a.test'), system.resolve('a.test')]
    answers.get('a.test')!.resolve(['192.0.2.1'])
    expect(await Promise.all(both)).toEqual([['192.0.2.1'], ['192.0.2.1']])
    const again = system.resolve('a.test')
    expect(lookups).toEqual(['a.test', 'a.test'])
    answers.get('a.test')!.reject(new Error('no such name'))
    await expect(again).rejects.toThrow('no such name')
  })

  it('the resolver of the system looks up two names at once; further names wait, also behind a lookup that fails', async () => {
    const { system, lookups, answers } = scripted()
    const results = ['a', 'b', 'c', 'd'].map(name => system.resolve(name))
    expect(lookups).toEqual(['a', 'b'])
    answers.get('a')!.reject(new Error('no such name'))
    await expect(results[0]).rejects.toThrow('no such name')
    expect(lookups).toEqual(['a', 'b', 'c'])
    answers.get('c')!.resolve([])
    await results[2]
    expect(lookups).toEqual(['a', 'b', 'c', 'd'])
    for (const name of ['b', 'd']) answers.get(name)!.resolve([])
    await Promise.all([results[1], results[3]])
    expect(lookups).toEqual(['a', 'b', 'c', 'd'])
  })

  it('the resolver of the system returns the answer of the last ten minutes while lookups of other names hang, and repeats the lookup', async () => {
    const { time, system, lookups, answers } = scripted()
    const first = system.resolve('known')
    answers.get('known')!.resolve(['192.0.2.1'])
    await first
    for (const name of ['silent', 'mute']) void system.resolve(name)
    time.advance(599_999)
    expect(await system.resolve('known')).toEqual(['192.0.2.1'])
    expect(lookups).toEqual(['known', 'silent', 'mute'])
    answers.get('silent')!.resolve([])
    await system.resolve('silent')
    expect(lookups.slice(3)).toEqual(['known'])
    answers.get('known')!.resolve(['192.0.2.2'])
    await new Promise(setImmediate)
    void system.resolve('still')
    expect(await system.resolve('known')).toEqual(['192.0.2.2'])
  })

  it('the resolver of the system returns no answer that is older than ten minutes', async () => {
    const { time, system, answers } = scripted()
    const first = system.resolve('known')
    answers.get('known')!.resolve(['192.0.2.1'])
    await first
    for (const name of ['silent', 'mute']) void system.resolve(name)
    time.advance(600_000)
    const late = system.resolve('known')
    answers.get('mute')!.resolve([])
    await system.resolve('mute')
    answers.get('known')!.reject(new Error('no such name'))
    await expect(late).rejects.toThrow('no such name')
  })

  it('the resolver of the system lets at most a thousand names wait', async () => {
    const { system } = scripted()
    const results = Array.from({ length: 1003 }, (_, n) => system.resolve(`n${n}`))
    await expect(results[1002]).rejects.toThrow('too many names wait')
  })
})
