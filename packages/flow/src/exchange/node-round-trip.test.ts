import { draftContent } from '@parley/contract'
import { action, node } from '@parley/nodes'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ImportBody } from './check-export.ts'
import { exportDraft } from './export-draft.ts'
import { anyValue } from './fixtures/arbitrary-value.ts'
import { imported, providers, secrets } from './fixtures/exports.ts'
import { type DraftContent, importExport } from './import-export.ts'

const RUNS = { numRuns: 25, interruptAfterTimeLimit: 4000, endOnFailure: true }
const nodeTypes = node.options.map(option => [[...option.shape.type.values].join(), option] as const)
const actionKinds = action.options.map(option => [[...option.shape.kind.values].join(), option] as const)

function draftOf(flow: object, actions: readonly object[]): DraftContent {
  return draftContent.parse({
    name: 'One part',
    settings: {},
    providers,
    recording: { required: true, channels: 'dual' },
    telephony: null,
    notification: null,
    inbound_context: null,
    knowledge: null,
    analysis: null,
    flow,
    actions,
    source: null,
  })
}

function throughExport(draft: DraftContent): DraftContent {
  const { warnings, ...body } = exportDraft(draft, { version: 3, includeWebhook: true })
  // Edges of one node with the same id get ids of their own: such a draft is not the same afterwards.
  fc.pre(!warnings.some(({ code }) => code === 'id_renamed'))
  return imported(importExport(body as ImportBody, secrets))
}

describe('export and import', () => {
  it.each(nodeTypes)('any %s node is the same after export and import', (_, schema) =>
    fc.assert(
      fc.property(anyValue(schema), source => {
        const draft = draftOf({ nodes: [source] }, [])
        expect(throughExport(draft).flow.nodes).toEqual(draft.flow.nodes)
      }),
      RUNS,
    ),
  )

  it.each(actionKinds)('any action of kind %s is the same after export and import, at version 1', (_, schema) =>
    fc.assert(
      fc.property(anyValue(schema), source => {
        const draft = draftOf({ nodes: [] }, [source as object])
        expect(throughExport(draft).actions).toEqual(draft.actions.map(read => ({ ...read, version: 1 })))
      }),
      RUNS,
    ),
  )
})
