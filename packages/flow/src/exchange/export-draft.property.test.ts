import { draftContent, type Json, operations } from '@parley/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ImportBody } from './check-export.ts'
import { exportDraft } from './export-draft.ts'
import { anyDraft } from './fixtures/arbitrary-value.ts'
import { exportFile, imported, importOf, secrets } from './fixtures/exports.ts'
import { type DraftContent, importExport } from './import-export.ts'
import { inspectExport } from './inspect-export.ts'
import { type JsonObject, objectOf } from './json.ts'

/** As many runs as fit into the timeout of a test on a busy machine. */
const RUNS = { numRuns: 60, interruptAfterTimeLimit: 6000, endOnFailure: true }

/** Every secret exists. */
const anySecret = { secretVersion: () => '4' }
const importable = (draft: DraftContent): DraftContent => ({
  ...draft,
  recording: { ...draft.recording, required: true },
})
const bodyOf = (draft: DraftContent, version = 3): ImportBody => {
  const { warnings: _, ...body } = exportDraft(draft, { version, includeWebhook: true })
  return body as ImportBody
}

/** The draft without the values that the server sets, without its source, and without a release gate of null, which is none. */
function contentOf(draft: DraftContent): unknown {
  const { releaseGate, ...others } = draft.settings
  const settings = releaseGate === null || releaseGate === undefined ? others : { ...others, releaseGate }
  return { ...draft, settings, source: null, actions: draft.actions.map(action => ({ ...action, version: 1 })) }
}

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
  fc.constantFrom<Json>(null, '', [], {}, 'a/b', '__proto__', 'x'.repeat(70), 'start/1', 1e300, [null], [[]], {
    id: 'x',
  }),
)

/** The export with values replaced, removed or repeated anywhere. */
function mutated(source: JsonObject, moves: readonly (readonly [number, string, Json])[]): JsonObject {
  const copy = structuredClone(source)
  for (const [pick, how, value] of moves) {
    const places: [JsonObject | Json[], string | number][] = []
    const walk = (owner: Json) => {
      if (typeof owner !== 'object' || owner === null) return
      for (const key of Object.keys(owner)) {
        places.push([owner as JsonObject, key])
        walk((owner as JsonObject)[key]!)
      }
    }
    walk(copy)
    const [owner, key] = places[pick % places.length]!
    if (how === 'remove') delete (owner as JsonObject)[key]
    else if (how === 'repeat' && Array.isArray(owner)) owner.push(structuredClone(owner[Number(key)]!))
    else if (how === 'add' && !Array.isArray(owner)) owner[`odd_${pick}`] = value
    else (owner as JsonObject)[key] = value
  }
  return JSON.parse(JSON.stringify(copy)) as JsonObject
}

const moves = fc.array(fc.tuple(fc.nat(), fc.constantFrom('remove', 'repeat', 'replace', 'add'), odd), {
  minLength: 1,
  maxLength: 6,
})

describe('an arbitrary export', () => {
  const full = exportFile('full-export')
  const inspected = operations.find(operation => operation.id === 'agents.import_inspect')!.output

  it('an arbitrary export is refused or imported, and the imported draft survives export and import unchanged', () => {
    let importedOnes = 0
    fc.assert(
      fc.property(moves, changes => {
        const { agent, flow } = mutated(full as unknown as JsonObject, changes)
        const source = { agent: objectOf(agent), flow: objectOf(flow) }
        expect(inspected.safeParse(inspectExport(source)).error).toBeUndefined()
        const result = importExport(importOf(source), anySecret)
        if (!result.ok) return
        importedOnes++
        expect(draftContent.parse(result.draft)).toEqual(result.draft)
        const again = importExport(bodyOf(result.draft, result.draft.source!.agent_version), anySecret)
        expect(imported(again)).toEqual(result.draft)
      }),
      RUNS,
    )
    expect(importedOnes).toBeGreaterThan(0)
  })

  it('an arbitrary import body is refused with a message and never throws', () =>
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), moves, (agent, flow, config, changes) => {
        const body = { agent_version: 1, agent, flow, config, model_bindings: {} } as unknown as ImportBody
        importExport(body, secrets)
        inspectExport(body)
        const whole = mutated(importOf(full) as unknown as JsonObject, changes) as unknown as ImportBody
        importExport(whole, secrets)
        expect(inspected.safeParse(inspectExport(whole)).error).toBeUndefined()
      }),
      RUNS,
    ))
})

describe('any draft', () => {
  it('an arbitrary draft keeps its meaning through export and import, and a second export equals the first', () =>
    fc.assert(
      fc.property(anyDraft.map(importable), draft => {
        const body = bodyOf(draft)
        const back = imported(importExport(body, anySecret))
        expect(bodyOf(back)).toEqual(body)
        const isRenamed = exportDraft(draft, { version: 3, includeWebhook: true }).warnings.some(
          ({ code }) => code === 'id_renamed',
        )
        if (!isRenamed) expect(contentOf(back)).toEqual(contentOf(draft))
      }),
      RUNS,
    ))
})
