import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packClient } from './pack.ts'

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))))
const COMPILE_MS = 180_000

let directory: string
let server: Server
let baseUrl: string
const requests: string[] = []

/** Accepts the creation of an agent at the second attempt, and lists two pages. */
function answer(line: string, key: string | undefined): [number, unknown] {
  requests.push(key === undefined ? line : `${line} ${key}`)
  if (line.startsWith('POST')) {
    const error = { code: 'rate_limited', message: 'later', retryable: true, outcome: 'none' }
    return requests.length === 1 ? [429, { error }] : [201, { ref: { id: 'anna' }, name: 'Anna' }]
  }
  if (line.includes('/agents/nobody'))
    return [404, { error: { code: 'not_found', message: 'no such agent', retryable: false, outcome: 'none' } }]
  const isFirst = !line.includes('cursor=')
  return [200, { agents: [{ ref: { id: isFirst ? 'a' : 'b' } }], issues: [], next_cursor: isFirst ? 'more' : null }]
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-client-user-'))
  const tarball = await packClient(join(directory, 'tarball'))
  await writeFile(join(directory, 'package.json'), '{"name":"user","private":true,"type":"module"}')
  await run('npm', ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', tarball])
  server = createServer((request, response) => {
    const key = request.headers['idempotency-key']
    const [status, body] = answer(`${request.method} ${request.url}`, typeof key === 'string' ? key : undefined)
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' }).end(JSON.stringify(body))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}, COMPILE_MS)

afterAll(async () => {
  server?.close()
  await rm(directory, { recursive: true, force: true })
})

describe('the package that others install', () => {
  it('the package has no dependencies and does not use Node APIs', async () => {
    expect((await readdir(join(directory, 'node_modules'))).filter(name => !name.startsWith('.'))).toEqual(['@parley'])
    const dist = join(directory, 'node_modules', '@parley', 'client', 'dist')
    const files = await readdir(dist)
    expect(files).toContain('index.d.ts')
    for (const name of files) {
      const text = await readFile(join(dist, name), 'utf8')
      for (const [, from] of text.matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g))
        expect([name, from]).toEqual([name, expect.stringMatching(/^\.\/[a-z-]+\.js$/)])
      expect(text).not.toMatch(/\b(process|Buffer|require)\b[.(]/)
    }
  })

  it('the installed package sends requests, retries with the same key, reads all pages and throws API errors', async () => {
    const script = `
      import { ParleyApiError, ParleyClient } from '@parley/client'
      const parley = new ParleyClient({ baseUrl: '${baseUrl}', key: 'parley_test_x' })
      const results = [(await parley.agents.create({ body: { template: 'blank', name: 'Anna' } })).ref.id]
      for await (const agent of parley.agents.list.all()) results.push(agent.ref.id)
      const error = await parley.agents.get({ params: { agent_id: 'nobody' } }).catch(error => error)
      results.push(error instanceof ParleyApiError && error.code)
      console.log(JSON.stringify(results))`
    await writeFile(join(directory, 'user.mjs'), script)
    expect(JSON.parse(await run(process.execPath, ['user.mjs']))).toEqual(['anna', 'a', 'b', 'not_found'])
    expect(requests[0]).toMatch(/^POST \/api\/v1\/agents [0-9a-f]{32}$/)
    expect(requests[1]).toBe(requests[0])
  })

  it('the types of the package have the exact request and response of each operation', async () => {
    const script = `
      import { type AgentSummary, ParleyClient, type RequestTo } from '@parley/client'
      const parley = new ParleyClient({ baseUrl: '${baseUrl}', key: 'parley_test_x', fetch, timeoutMs: 1000 })
      const request: RequestTo<'agents.create'> = { body: { template: 'cloud_chat', name: 'Anna', language: 'es' } }
      const agent: AgentSummary = await parley.agents.create(request, { signal: AbortSignal.timeout(1000) })
      const version: number | undefined = agent.head?.version
      for await (const row of parley.keys.list.all({ query: { limit: 5 } })) row.prefix.slice(version)
      for await (const row of parley.agents.list.all()) row.ref.id.slice()
      const { kind } = (await parley.audit.list()).items[0]!.principal
      for await (const item of parley.runs.events({ params: { run_id: '' } }, { after: 7 }))
        if (item.kind === 'digits') item.digits.slice(item.seq)
      if (kind === 'user' || kind === 'api_key' || kind === 'system') await parley.tenantSettings.get()
      // @ts-expect-error no such template
      await parley.agents.create({ body: { template: 'white', name: 'Anna' } })
      // @ts-expect-error the name is missing
      await parley.agents.create({ body: { template: 'blank' } })
      // @ts-expect-error there is no such member
      await parley.agents.create({ body: { template: 'blank', name: 'Anna', nmae: 'Anna' } })
      // @ts-expect-error which agent
      await parley.agents.get()
      // @ts-expect-error no such operation
      await parley.agents.destroy()
      // @ts-expect-error not a list of pages
      parley.agents.get.all()
      // @ts-expect-error a number
      agent.head?.version.slice()`
    await compile('user.ts', script, { lib: ['es2022', 'dom'], types: [], skipLibCheck: false })
  })

  it(
    'the generated types accept and return exactly what the types of the contract do',
    async () => {
      const source = (path: string) => JSON.stringify(join(root, 'packages', path))
      // Objects that may have further members have none in the package's types, so requests of draft edits are compared in one direction.
      const script = `
      import type { OperationId, OperationNamed, ResultOf } from ${source('contract/src/index.ts')}
      import type { RequestTo } from ${source('client/src/api.ts')}
      import type * as packaged from '@parley/client'
      type Id = OperationId & packaged.OperationId
      type Open = 'drafts.edit'
      type Unlike<A, B> = [A] extends [B] ? false : true
      type NotThere = Exclude<OperationId, packaged.OperationId> | Exclude<packaged.OperationId, OperationId>
      type Refused = { [I in Id]: Unlike<RequestTo<I>, packaged.RequestTo<I>> extends true ? I : never }[Id]
      type TooMuch = { [I in Exclude<Id, Open>]: Unlike<packaged.RequestTo<I>, RequestTo<I>> extends true ? I : never }[Exclude<Id, Open>]
      type ResultDiffers = { [I in Id]: Unlike<ResultOf<OperationNamed<I>>, packaged.ResultFrom<I>> extends true ? I : never }[Id]
      type None<Ids> = [Ids] extends [never] ? true : Ids
      export const same: [None<NotThere>, None<Refused>, None<TooMuch>, None<ResultDiffers>] = [true, true, true, true]`
      await compile('same.ts', script, {
        lib: ['es2024', 'dom', 'esnext.disposable'],
        typeRoots: [join(root, 'node_modules/@types')],
        types: ['node'],
      })
    },
    COMPILE_MS,
  )
})

async function compile(name: string, script: string, options: Record<string, unknown>): Promise<void> {
  const project = join(directory, name.replace('.', '-'))
  await mkdir(project)
  await writeFile(join(project, name), script)
  const compilerOptions = {
    target: 'es2024',
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
    ...options,
  }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: [name] }))
  await run(join(root, 'node_modules', '.bin', 'tsc'), ['--project', project, '--pretty', 'false'])
}

function run(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'], timeout: COMPILE_MS })
    let out = ''
    let all = ''
    child.stdout.setEncoding('utf8').on('data', text => {
      out += text
      all += text
    })
    child.stderr.setEncoding('utf8').on('data', text => {
      all += text
    })
    child.on('error', reject)
    child.on('close', code => (code === 0 ? resolve(out) : reject(new Error(all.slice(-4000)))))
  })
}
