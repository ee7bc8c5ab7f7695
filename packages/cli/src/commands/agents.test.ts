import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ParleyClient } from '@parley/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UsageError } from '../usage.ts'
import { agentsWork } from './agents.ts'
import { clientOf } from './api-client.ts'

let home: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-agents-'))
})
afterAll(() => rm(home, { recursive: true, force: true }))

interface SentRequest {
  readonly line: string
  readonly body: unknown
}

type Answers = Readonly<Record<string, unknown>>

/** Runs `parley agents` against an API that answers by `METHOD /path?query` (without `/api/v1`): a body, or `[status, body]`. */
async function parley(args: string[], answers: Answers) {
  const requests: SentRequest[] = []
  const out: string[] = []
  const remarks: string[] = []
  const client = new ParleyClient({
    baseUrl: 'https://parley.example',
    key: 'parley_live_x',
    retries: 0,
    fetch: async (url, init) => {
      const line = `${init?.method} ${String(url).slice('https://parley.example/api/v1'.length)}`
      requests.push({ line, body: typeof init?.body === 'string' ? JSON.parse(init.body) : undefined })
      const answer = answers[line]
      const [status, body] = Array.isArray(answer) ? answer : [200, answer]
      return Response.json(body ?? { error: { code: 'internal', message: `the test has no answer for ${line}` } }, {
        status: body ? status : 500,
      })
    },
  })
  const context = {
    client,
    print: (text: string) => void out.push(text),
    remark: (text: string) => void remarks.push(text),
  }
  const exit = await agentsWork(args)(context).catch((error: unknown) => error)
  return {
    exit,
    message: exit instanceof Error ? exit.message : '',
    out: out.join(''),
    remarks: remarks.join(''),
    requests,
  }
}

const refusal = (code: string, message: string, details: object) => ({
  error: { code, message, retryable: false, outcome: 'none', details },
})

const agent = (id: string, more: object = {}) => ({
  ref: { tenant_id: 't', kind: 'agent', id },
  name: `Agent ${id}`,
  head: null,
  draft: { draft_id: 'd1', revision: 4, base_version: null, published_revision: 3 },
  created_at: '2026-01-02T03:04:05.678Z',
  updated_at: '2026-01-02T03:04:05.678Z',
  last_run: null,
  ...more,
})

const warning = { code: 'unknown_word', path: '/settings/sttMode', message: 'is not known', severity: 'warning' }
const fault = {
  code: 'dangling_edge',
  path: '/flow/nodes/0',
  message: 'leads nowhere',
  severity: 'error',
  fixes: [{ id: 'f', label: 'remove the edge', edits: [] }],
}

describe('parley agents list', () => {
  const FIRST = 'GET /agents?limit=200&sort=name_asc'
  const pages = {
    [FIRST]: { agents: [agent('anna', { name: 'Anna\u001b[2J\u202e' })], issues: [], next_cursor: 'c' },
    [`${FIRST}&cursor=c`]: {
      agents: [agent('bert', { head: { version: 7, channels: ['phone'] }, draft: null })],
      issues: [],
      next_cursor: null,
    },
  }

  it('agents are listed in a table that no agent name can forge', async () => {
    const { out, exit } = await parley(['list'], pages)
    expect(out).toBe(
      [
        'AGENT  NAME        LIVE       CHANNELS  DRAFT       UPDATED',
        'anna   Anna·[2J·   -          -         revision 4  2026-01-02T03:04:05.678Z',
        'bert   Agent bert  version 7  phone     -           2026-01-02T03:04:05.678Z',
        '',
      ].join('\n'),
    )
    expect(exit).toBe(0)
  })

  it('with --json the agents are printed completely', async () => {
    const { out } = await parley(['list', '--json'], pages)
    expect(JSON.parse(out).agents.map((found: { ref: object }) => found.ref)).toMatchObject([
      { id: 'anna' },
      { id: 'bert' },
    ])
  })

  it('the filters of the command line reach the API', async () => {
    const { requests, out } = await parley(['list', '--search', 'an', '--channel', 'phone'], {
      [`${FIRST}&q=an&channel=phone`]: { agents: [], issues: [], next_cursor: null },
    })
    expect(requests).toHaveLength(1)
    expect(out).toBe('No agents.\n')
  })
})

describe('parley agents validate', () => {
  const answer = (...diagnostics: object[]) => ({ 'POST /agents/anna/draft/validate': { revision: 4, diagnostics } })

  it('each finding is printed with its fix, and errors cause exit code 1', async () => {
    const { out, exit } = await parley(['validate', 'anna'], answer(fault, warning))
    expect(out).toBe(
      [
        'error    /flow/nodes/0  leads nowhere  (dangling_edge)',
        '         fix: remove the edge',
        'warning  /settings/sttMode  is not known  (unknown_word)',
        'revision 4: 1 error, 1 warning',
        '',
      ].join('\n'),
    )
    expect(exit).toBe(1)
  })

  it('validate --fix applies the first fix of each error until none is left', async () => {
    const fixable = {
      ...fault,
      fixes: [{ id: 'f', label: 'remove the edge', edits: [{ type: 'agent.name', name: 'x' }] }],
    }
    const answers: Record<string, unknown> = {
      ...answer(fixable),
      'GET /agents/anna': agent('anna'),
      get 'PATCH /agents/anna/draft'() {
        Object.assign(answers, answer(warning))
        return { revision: 5 }
      },
    }
    const { out, exit, remarks, requests } = await parley(['validate', 'anna', '--fix'], answers)
    expect(remarks).toBe('fixed: remove the edge\n')
    expect(requests.find(({ line }) => line.startsWith('PATCH'))?.body).toMatchObject({
      draft_id: 'd1',
      expected_revision: 4,
      edits: [{ type: 'agent.name', name: 'x' }],
    })
    expect(out).toContain('0 errors, 1 warning')
    expect(exit).toBe(0)
  })

  it('warnings alone cause exit code 0', async () => {
    expect(await parley(['validate', 'anna', '--json'], answer(warning))).toMatchObject({ exit: 0 })
  })
})

describe('parley agents publish', () => {
  const PUBLISH = 'POST /agents/anna/publications'

  it('the current draft is published', async () => {
    const publication = { ref: { agent_id: 'anna', version: 5, digest: '' }, is_head: true }
    const { out, remarks, requests } = await parley(['publish', 'anna'], {
      'GET /agents/anna': agent('anna'),
      [PUBLISH]: [201, { publication, warnings: [warning] }],
    })
    expect(requests[1]).toEqual({ line: PUBLISH, body: { draft_id: 'd1', expected_revision: 4, test: false } })
    expect(out).toBe('anna version 5 is live\n')
    expect(remarks).toContain('is not known')
  })

  it('a refused publication prints the reasons', async () => {
    const details = { reason: 'invalid_draft', diagnostics: [fault] }
    const { message } = await parley(['publish', 'anna'], {
      'GET /agents/anna': agent('anna'),
      [PUBLISH]: [422, refusal('publication_invalid', 'the draft has errors', details)],
    })
    expect(message.split('\n')).toEqual([
      'the draft has errors (publication_invalid, invalid_draft)',
      '  error    /flow/nodes/0  leads nowhere  (dangling_edge)',
      '           fix: remove the edge',
    ])
    expect(
      (await parley(['publish', 'anna'], { 'GET /agents/anna': agent('anna', { draft: null }) })).message,
    ).toContain('no open draft')
  })
})

describe('parley agents export and import', () => {
  const exported = {
    agent_version: 3,
    agent: { agent_name: 'Anna' },
    flow: { nodes: [] },
    config: { providers: {} },
    model_bindings: {},
    warnings: [],
  }
  const environments = {
    'GET /environments': { items: [{ environment: 'production', tenant_id: 't-1' }], selected: 'production' },
  }
  const imported = (outcome: string) => ({
    'POST /agents/import': [
      201,
      { outcome, draft: { agent: { id: 'copy' }, draft_id: 'd2', revision: 1 }, warnings: [warning] },
    ],
  })

  it('an exported file can be imported as another agent', async () => {
    const file = join(home, 'anna.json')
    expect(
      (
        await parley(['export', 'anna', '--version', '3', '--out', file], {
          'GET /agents/anna/export?version=3': exported,
        })
      ).exit,
    ).toBe(0)
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(exported)
    expect(await readdir(home)).toEqual(['anna.json'])
    const { out, remarks, requests } = await parley(['import', file, '--as', 'copy'], {
      ...environments,
      ...imported('create_agent'),
    })
    const { warnings: _, ...body } = exported
    expect(requests.at(-1)?.body).toEqual({ ...body, reference: { tenant_id: 't-1', kind: 'agent', id: 'copy' } })
    expect(out).toContain('created agent copy, revision 1\n')
    expect(remarks).toContain('is not known')
  })

  it('an unwritable file is named in the error', async () => {
    const file = join(home, 'nowhere', 'anna.json')
    const answers = { 'GET /agents/anna/export': exported }
    const { message } = await parley(['export', 'anna', '--out', file], answers)
    expect(message).toBe(`--out: ${file} cannot be written (ENOENT)`)
  })

  it('export --include-webhook asks for the webhook', async () => {
    const answers = { 'GET /agents/anna/export?include_webhook=true': exported }
    expect((await parley(['export', 'anna', '--include-webhook'], answers)).exit).toBe(0)
  })

  it('export --draft prints the draft', async () => {
    const { out } = await parley(['export', 'anna', '--draft'], { 'GET /agents/anna/export?draft=true': exported })
    expect(JSON.parse(out)).toEqual(exported)
  })

  it('import replaces a changed draft only if requested, and binds models by their id', async () => {
    const file = join(home, 'named.json')
    await writeFile(file, JSON.stringify({ ...exported, reference: { id: 'copy' } }))
    const model = { model_id: 'good-1', provider: 'openai', tier: 'frontier' }
    const { requests } = await parley(['import', file, '--replace', '--bind', '/flow/model_choice=good-1'], {
      ...environments,
      ...imported('replace_draft'),
      'GET /agents/copy': agent('copy'),
      'GET /models?limit=200': { items: [{ kind: 'chat', model }], next_cursor: null },
    })
    expect(requests.at(-1)?.body).toMatchObject({
      reference: { id: 'copy' },
      model_bindings: { '/flow/model_choice': { model } },
      replace_draft: { draft_id: 'd1', expected_revision: 4 },
    })
    const { message } = await parley(['import', file, '--bind', '/flow/model_choice=bad-1'], {
      ...environments,
      'GET /models?limit=200': { items: [{ kind: 'chat', model }], next_cursor: null },
    })
    expect(message).toBe('--bind /flow/model_choice: there is no model "bad-1"; known are good-1')
  })

  it('an invalid file is refused with the place of each fault', async () => {
    const file = join(home, 'wrong.json')
    await writeFile(file, JSON.stringify(exported))
    const issues = [{ path: '/config/providers/stt', message: 'body: is missing\u0007' }]
    const { message } = await parley(['import', file, '--as', 'copy'], {
      ...environments,
      'POST /agents/import': [400, refusal('invalid_request', 'the request is not valid', { issues })],
    })
    expect(message.split('\n')).toEqual([
      'the request is not valid (invalid_request)',
      '  /config/providers/stt  body: is missing·',
    ])
    await writeFile(file, '{"agent": 1}')
    expect((await parley(['import', file, '--as', 'copy'], {})).message).toContain('holds no conversation flow')
    await writeFile(file, '[1')
    expect((await parley(['import', file, '--as', 'copy'], {})).message).toContain('is not JSON')
    await writeFile(file, Buffer.alloc(8 * 1024 * 1024 + 1, ' '))
    expect((await parley(['import', file, '--as', 'copy'], {})).message).toContain('longer than')
    expect((await parley(['import', join(home, 'absent.json')], {})).message).toContain('absent.json')
  })
})

const models = {
  'GET /models?limit=200': {
    items: [
      {
        kind: 'chat',
        model: { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' },
        provider: 'hosted',
        ready: true,
      },
      {
        kind: 'chat',
        model: { model_id: 'big', provider: 'maker', tier: 'frontier' },
        provider: 'hosted',
        ready: true,
      },
    ],
    next_cursor: null,
  },
}
const voices = {
  'GET /voices?limit=200': {
    items: [
      { role: 'stt', provider: 'ears', model: 'e-1', voice_id: null, languages: ['multi'], ready: true },
      { role: 'tts', provider: 'mouth', model: 'm-1', voice_id: 'ana', languages: ['es', 'en'], ready: true },
    ],
    next_cursor: null,
  },
}
const inspection = {
  agent_name: 'Mesa',
  agent_version: 2,
  flow_id: null,
  flow_version: null,
  languages: ['es-ES'],
  node_types: { conversation: 2, end: 1 },
  model_bindings: [{ path: '/flow/model_choice', source_model: 'gpt-4.1', bound: false }],
  diagnostics: [warning],
}

describe("parley agents import with a vendor's file", () => {
  const environments = {
    'GET /environments': { items: [{ environment: 'production', tenant_id: 't-1' }], selected: 'production' },
  }
  const imported = {
    'POST /agents/import': [
      201,
      {
        outcome: 'create_agent',
        draft: { agent: { id: 'mesa-uno' }, draft_id: 'd2', revision: 1 },
        warnings: [warning],
      },
    ],
  }
  const answers = { ...environments, ...imported, ...models, ...voices, 'POST /agents/import/inspect': inspection }
  const vendorFile = {
    agent_name: 'Mesa Ü Uno',
    language: 'es-ES',
    version: 2,
    webhook_url: 'https://hooks.example.com',
    conversationFlow: { nodes: [], model_choice: { type: 'cascading', model: 'gpt-4.1' } },
  }
  const written = async (name: string, value: object) => {
    const file = join(home, name)
    await writeFile(file, `\uFEFF${JSON.stringify(value)}`)
    return file
  }

  it('the agent is created with the first ready services, every model bound, and each choice is reported', async () => {
    const { out, remarks, requests } = await parley(['import', await written('mesa.json', vendorFile)], answers)
    expect(requests.at(-1)?.body).toMatchObject({
      reference: { id: 'mesa-u-uno' },
      agent_version: 2,
      agent: { agent_name: 'Mesa Ü Uno', webhook_url: null },
      config: {
        providers: { llm: { model: { model_id: 'rules-1' } }, tts: { voiceId: 'ana' }, stt: { provider: 'ears' } },
        recording: { required: true, channels: 'dual' },
      },
      model_bindings: { '/flow/model_choice': { model: { model_id: 'rules-1' } } },
    })
    expect(out).toContain('created agent mesa-uno, revision 1\n')
    expect(out).toContain('3 nodes (2 conversation, 1 end), language es-ES')
    expect(out).toContain('1 warning above: what differs')
    expect(out).toContain('next: parley agents validate mesa-uno')
    expect(remarks).toContain('voice mouth/ana')
    expect(remarks).toContain('model rules-1 in place of gpt-4.1: /flow/model_choice')
    expect(remarks).toContain('webhook_url is left out (https://hooks.example.com)')
    expect(remarks).toContain('is not known')
  })

  it('a chosen model speaks in every node, and a secret keeps the webhook', async () => {
    const file = await written('chosen.json', vendorFile)
    const args = ['import', file, '--model', 'big', '--webhook-secret', 'hook', '--as', 'x']
    const { requests } = await parley(args, answers)
    expect(requests.at(-1)?.body).toMatchObject({
      reference: { id: 'x' },
      agent: { webhook_url: 'https://hooks.example.com' },
      config: {
        providers: { llm: { model: { model_id: 'big' } } },
        webhook: { url: 'https://hooks.example.com', secretRef: 'hook' },
      },
      model_bindings: { '/flow/model_choice': { model: { model_id: 'big' } } },
    })
    expect((await parley(['import', file, '--model', 'none'], answers)).message).toBe(
      '--model: there is no model "none"; known are rules-1, big',
    )
  })

  it('a flow without an agent is named after its file', async () => {
    const { requests, remarks } = await parley(
      ['import', await written('night desk.json', vendorFile.conversationFlow)],
      answers,
    )
    expect(requests.at(-1)?.body).toMatchObject({
      reference: { id: 'night-desk' },
      agent: { agent_name: 'night desk' },
      agent_version: 0,
    })
    expect(remarks).toContain('the file names no agent: it is called "night desk"')
  })

  it('inspect prints what an import would find and imports nothing', async () => {
    const { out, exit, requests } = await parley(['inspect', await written('look.json', vendorFile)], answers)
    expect(out).toContain('"Mesa": 3 nodes (2 conversation, 1 end), language es-ES\n')
    expect(out).toContain('is not known')
    expect(exit).toBe(0)
    expect(requests.some(({ line }) => line === 'POST /agents/import')).toBe(false)
    const refused = { ...answers, 'POST /agents/import/inspect': { ...inspection, diagnostics: [fault] } }
    expect((await parley(['inspect', join(home, 'look.json')], refused)).exit).toBe(1)
  })
})

describe('parley agents', () => {
  it.each([
    [[], 'usage:'],
    [['toString'], 'usage:'],
    [['list', 'anna'], 'usage: parley agents list'],
    [['list', '--channel', 'fax'], '--channel takes phone or cloud'],
    [['validate'], 'usage: parley agents validate'],
    [['import'], 'usage: parley agents import'],
    [['import', 'f', '--bind', 'gpt'], '--bind takes PATH=MODEL'],
    [['export', 'a', '--version', 'x'], '--version takes the number'],
    [['export', 'a', '--version', '1', '--draft'], 'give one of them'],
  ])('the arguments %j are refused before the API is called', (args, message) => {
    expect(() => agentsWork(args)).toThrow(UsageError)
    expect(() => agentsWork(args)).toThrow(message)
  })

  it('without PARLEY_API the running npm start is used, and its key is sent to its own API only', async () => {
    const none = { home, api: null, key: null }
    await expect(clientOf(none)).rejects.toThrow('set PARLEY_API, or start Parley')
    await writeFile(
      join(home, 'demo.json'),
      JSON.stringify({ api: 'http://127.0.0.1:8080', key: 'parley_live_demo', sip: 'x' }),
    )
    await expect(clientOf(none)).resolves.toBeDefined()
    await expect(clientOf({ ...none, api: 'http://127.0.0.1:8080' })).resolves.toBeDefined()
    await expect(clientOf({ ...none, api: 'https://elsewhere.example' })).rejects.toThrow('set PARLEY_KEY')
    await writeFile(join(home, 'demo.json'), JSON.stringify({ api: null, key: null }))
    await expect(clientOf(none)).rejects.toThrow('set PARLEY_API')
  })
})
