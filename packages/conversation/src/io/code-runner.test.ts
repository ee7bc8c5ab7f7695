import { afterAll, describe, expect, it } from 'vitest'
import { CodeThreads } from './code-runner.ts'

const threads = new CodeThreads()
afterAll(() => threads.close())

const run = (code: string, dv: Record<string, string> = {}) =>
  threads.run({ code, dv, metadata: { channel: 'phone' }, timeoutMs: 10_000 })

describe("an author's code", () => {
  it('the code reads variables and the call, may await its own promises, and returns a JSON value', async () => {
    const code = 'const n = await Promise.resolve(Number(dv.n)); return { n: n + 1, on: metadata.channel }'
    expect(await run(code, { n: '41' })).toEqual({ ok: true, value: { n: 42, on: 'phone' } })
    expect(await run('')).toEqual({ ok: true, value: null })
  })

  it.each([
    ['throw new Error("no")', 'Error: no'],
    ['return 1 +', 'SyntaxError'],
    ['return fetch("https://e.test")', "'fetch' is not defined"],
    ['await new Promise(() => {})', 'waits for something that never happens'],
    ['const o = {}; o.o = o; return o', 'circular'],
    ['return "x".repeat(100000)', 'longer than'],
    ['return (function f() { return f() })()', 'stack overflow'],
  ])('the code %j fails with a message', async (code, message) => {
    const result = await run(code)
    expect(result).toMatchObject({ ok: false, code: 'code_failed' })
    expect(result.ok ? '' : result.message).toContain(message)
  })

  it('the code reaches nothing of the process', async () => {
    const names = ['process', 'require', 'fetch', 'setTimeout', 'WebAssembly', 'Buffer', 'performance']
    const code = `return [${names.map(name => `typeof globalThis.${name}`).join()}]`
    expect(await run(code)).toEqual({ ok: true, value: names.map(() => 'undefined') })
  })

  it.each(['while (true) {}', 'while (true) await null', '})()})(); while (true) {} (() => { (async () => {'])(
    'the code %j, which never ends, is stopped, and other code runs meanwhile',
    async code => {
      const endless = run(code)
      expect(await run('return 1')).toEqual({ ok: true, value: 1 })
      expect(await endless).toMatchObject({ ok: false, code: 'code_timeout' })
    },
  )

  it('code that takes all memory is stopped, and later code runs', async () => {
    const result = await run('const a = []; while (true) a.push("x".repeat(100000) + a.length)')
    expect(result).toMatchObject({ ok: false })
    expect(await run('return 1')).toEqual({ ok: true, value: 1 })
  })

  it('a run leaves nothing behind for the next', async () => {
    await run('globalThis.left = 1; Array.prototype.map = null; return 1')
    expect(await run('return [typeof globalThis.left, [1].map(x => x)]')).toEqual({
      ok: true,
      value: ['undefined', [1]],
    })
  })
})
