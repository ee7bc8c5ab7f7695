import { operations } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { exportFile, importOf, modelOf } from './fixtures/exports.ts'
import { inspectExport } from './inspect-export.ts'

const output = operations.find(operation => operation.id === 'agents.import_inspect')!.output
const full = exportFile('full-export')
const codes = (body: Parameters<typeof inspectExport>[0]) =>
  inspectExport(body)
    .diagnostics.filter(({ severity }) => severity === 'error')
    .map(({ code, path }) => `${code} ${path}`)

describe('inspecting an export', () => {
  it('an inspection reports the name, ids, versions, languages and node types of the export', () => {
    const found = inspectExport(full)
    expect(output.parse(found)).toEqual(found)
    expect(found).toMatchObject({
      agent_name: 'Harbour Clinic',
      agent_version: 7,
      flow_id: 'conversation_flow_harbour',
      flow_version: 7,
      languages: ['en-US', 'es-419', 'de-DE'],
      node_types: { conversation: 2, function: 3, branch: 2, end: 2, sticky_note: 1 },
    })
  })

  it('an inspection lists each model to bind once, by its path in the import request', () => {
    expect(inspectExport(full).model_bindings).toEqual([
      { path: '/flow/model_choice', source_model: 'vendor-large', bound: false },
      { path: '/flow/nodes/0/model_choice', source_model: 'vendor-small', bound: false },
      { path: '/flow/components/0/nodes/0/model_choice', source_model: 'vendor-small', bound: false },
      { path: '/agent/post_call_analysis_model', source_model: 'vendor-mini', bound: false },
    ])
    expect(codes(full)).toEqual([
      'model_binding_required /agent/post_call_analysis_model',
      'webhook_mismatch /agent/webhook_url',
      'model_binding_required /flow/components/0/nodes/0/model_choice',
      'model_binding_required /flow/model_choice',
      'model_binding_required /flow/nodes/0/model_choice',
    ])
  })

  it('an inspection reports no problem in an export that can be imported', () => {
    expect(codes(importOf(full))).toEqual([])
    expect(inspectExport(importOf(full)).model_bindings.every(({ bound }) => bound)).toBe(true)
  })

  it('an inspection reports what an import would refuse', () => {
    const body = importOf(full)
    expect(codes({ ...body, agent_version: 8 })).toEqual(['invalid_request /agent_version'])
    const unneeded = { ...body.model_bindings, '/flow/nodes/1/model_choice': modelOf('x') }
    expect(codes({ ...body, model_bindings: unneeded })).toEqual([
      'invalid_request /model_bindings/~1flow~1nodes~11~1model_choice',
    ])
    expect(
      codes({ ...body, agent: { ...body.agent, response_engine: { type: 'single-prompt', version: 7 } } }),
    ).toEqual(['unsupported_capability /agent/response_engine/type'])
  })

  it('an inspection of an empty export reports only that the agent name is missing', () =>
    expect(inspectExport({ agent: {}, flow: {} })).toEqual({
      agent_name: '',
      agent_version: null,
      flow_id: null,
      flow_version: null,
      languages: [],
      node_types: {},
      model_bindings: [],
      diagnostics: [expect.objectContaining({ path: '/agent/agent_name', severity: 'error' })],
    }))
})
