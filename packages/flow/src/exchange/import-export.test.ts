import { describe, expect, it } from 'vitest'
import { changed, exportFile, imported, importOf, modelOf, secrets } from './fixtures/exports.ts'
import { importExport } from './import-export.ts'
import { body, refusal } from './testing/full-import.ts'

describe('an import is refused', () => {
  const choice = '/flow/nodes/0/model_choice'
  const { [choice]: bound, ...others } = body.model_bindings

  it.each([
    [
      'the export is of another kind of agent',
      changed(body, ['agent', 'response_engine', 'type'], 'single-prompt'),
      'unsupported_capability',
      '/agent/response_engine/type',
    ],
    ['the version is not the one of the export', { ...body, agent_version: 8 }, undefined, '/agent_version'],
    ['the agent has no name', changed(body, ['agent', 'agent_name'], ''), undefined, '/agent/agent_name'],
    [
      'the agent need not be recorded',
      changed(body, ['config', 'recording', 'required'], false),
      undefined,
      '/config/recording/required',
    ],
    [
      'it is recorded in one channel',
      changed(body, ['config', 'recording', 'channels'], 'mono'),
      undefined,
      '/config/recording/channels',
    ],
    ['no webhook is pinned', changed(body, ['config', 'webhook'], undefined), 'webhook_mismatch', '/agent/webhook_url'],
    [
      'another webhook is pinned',
      changed(body, ['config', 'webhook', 'url'], 'https://else.example.com'),
      'webhook_mismatch',
      '/agent/webhook_url',
    ],
    [
      'the webhook URL is not HTTP',
      changed(body, ['config', 'webhook', 'url'], 'wss://else.example.com'),
      undefined,
      '/config/webhook/url',
    ],
    [
      'the secret does not exist',
      changed(body, ['config', 'webhook', 'secretRef'], 'other@1'),
      'secret_not_found',
      '/config/webhook/secretRef',
    ],
    [
      'a model is bound where none is named',
      { ...body, model_bindings: { ...body.model_bindings, '/flow/nodes/1/model_choice': bound! } },
      undefined,
      '/model_bindings/~1flow~1nodes~11~1model_choice',
    ],
    [
      'there are more nodes than a flow has',
      changed(
        body,
        ['flow', 'nodes'],
        Array.from({ length: 501 }, () => ({ id: 'a', type: 'end' })),
      ),
      undefined,
      '/flow/nodes',
    ],
  ])('an import is refused when %s', (_, sent, reason, path) => {
    const found = refusal(importExport(sent, secrets))
    expect(found).toMatchObject({ reason, details: { issues: [{ path }] } })
    expect(found!.code).toBe(reason === 'unsupported_capability' ? 'capability_unavailable' : 'invalid_request')
  })

  it('an import is refused when a model is not bound', () =>
    expect(refusal(importExport({ ...body, model_bindings: others }, secrets))).toMatchObject({
      code: 'publication_invalid',
      reason: 'model_binding_required',
      details: { diagnostics: [{ code: 'model_binding_required', path: choice, severity: 'error' }] },
    }))

  it('an import is refused when it is nested too deep', () => {
    const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`) as never
    expect(refusal(importExport(changed(body, ['flow', 'x'], deep), secrets))!.code).toBe('invalid_request')
  })

  it('an import is refused when one node has too many edges', () => {
    const edges = Array.from({ length: 300_000 }, () => ({ id: 'e' }))
    expect(refusal(importExport(changed(body, ['flow', 'nodes', 0, 'edges'], edges), secrets))).toMatchObject({
      details: { issues: [{ path: '/flow/nodes/0/edges' }] },
    })
  })
})

describe('an import', () => {
  it('the version of the response engine applies when the agent has no version', () => {
    const { agent, flow } = exportFile('minimal-export')
    const minimal = importOf({ agent, flow })
    expect(imported(importExport(minimal, secrets)).source).toMatchObject({ agent_version: 0 })
    expect(refusal(importExport({ ...minimal, agent_version: 1 }, secrets))).toMatchObject({ code: 'invalid_request' })
  })

  it('a secret reference with a version pins that version', () => {
    const pinned = importExport(changed(body, ['config', 'webhook', 'secretRef'], 'hook@2'), secrets)
    expect(imported(pinned).notification!.secret).toEqual({ id: 'hook', version: '2' })
  })

  it('the model bound for the flow is used, with a warning when it differs from the one in config', () => {
    const other = importExport(
      { ...body, model_bindings: { ...body.model_bindings, '/flow/model_choice': modelOf('own-small') } },
      secrets,
    )
    expect(imported(other).providers.llm.model.model_id).toBe('own-small')
    expect(other.ok && other.warnings.map(({ path }) => path)).toContain('/config/providers/llm/model')
  })

  it('an import leaves the request body unchanged', () => {
    const before = structuredClone(body)
    importExport(body, secrets)
    expect(body).toEqual(before)
  })
})
