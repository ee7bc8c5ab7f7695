import { type DraftEdit, draftContent } from '@parley/contract'
import { draftEdit } from '@parley/contract/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryDraft } from '../../fuzz/arbitrary-draft.ts'
import { arbitraryEdit } from '../../fuzz/arbitrary-edits.ts'
import { type DraftContent, readDraft } from '../plan/draft.ts'
import { draftEnvironment, nothing } from '../testing/draft-environment.ts'
import { applyEdits } from './apply-edits.ts'
import { validate } from './validate.ts'

/** Hundreds of drafts are generated and checked, which takes longer than the default timeout on a busy machine. */
const TIMEOUT_MS = 600_000

const draft = arbitraryDraft.map(readDraft)

/** The draft after the edits, without those that are refused. */
function edited(from: DraftContent, edits: readonly DraftEdit[]): DraftContent {
  return edits.reduce((before, edit) => {
    const result = applyEdits(before, [edit])
    return result.ok ? result.draft : before
  }, from)
}

describe('arbitrary edits of a draft', () => {
  it('the generator produces edits of every type', () => {
    const types = new Set(fc.sample(arbitraryEdit, { numRuns: 1000, seed: 1 }).map(edit => edit.type))
    expect([...types].sort()).toEqual(Object.keys(EVERY_TYPE).sort())
  })

  it(
    'arbitrary edits yield a draft that matches the schema or are refused as a whole, and never mutate their input',
    () => {
      fc.assert(
        fc.property(draft, fc.array(arbitraryEdit, { minLength: 1, maxLength: 12 }), (before, edits) => {
          const given = JSON.stringify([before, edits])
          let step = before
          let refusedAt: number | null = null
          for (const [index, edit] of edits.entries()) {
            const result = applyEdits(step, [edit])
            if (!result.ok) {
              refusedAt = index
              break
            }
            step = result.draft
            expect(draftContent.parse(step)).toEqual(step)
          }
          const all = applyEdits(before, edits)
          if (refusedAt === null) expect(all).toEqual({ ok: true, draft: step })
          else {
            expect(all.ok).toBe(false)
            if (!all.ok) expect(all.issues[0].path).toMatch(new RegExp(`^/edits/${refusedAt}(/|$)`))
          }
          expect(JSON.stringify([before, edits])).toBe(given)
        }),
        { numRuns: 100 },
      )
    },
    TIMEOUT_MS,
  )

  it(
    'an edited draft shares no objects with the edits',
    () => {
      fc.assert(
        fc.property(draft, fc.array(arbitraryEdit, { minLength: 1, maxLength: 3 }), (before, edits) => {
          const result = applyEdits(freeze(before), freeze(edits))
          if (!result.ok) return
          const given = reachable([before, edits])
          expect([...reachable(result.draft)].filter(part => given.has(part))).toEqual([])
        }),
        { numRuns: 50 },
      )
    },
    TIMEOUT_MS,
  )
})

describe('arbitrary fixes of findings', () => {
  it.each([
    ['an environment with every resource', draftEnvironment],
    ['an environment without resources', nothing],
  ])(
    'every offered fix applies unchanged and resolves its finding, in %s',
    (_, environment) => {
      const resolved = new Set<string>()
      fc.assert(
        fc.property(draft, fc.array(arbitraryEdit, { maxLength: 25 }), (before, edits) => {
          const faulty = edited(before, edits)
          for (const found of validate(faulty, environment))
            for (const fix of found.fixes ?? []) {
              expect(fix.edits.map(edit => draftEdit.parse(edit))).toEqual(fix.edits)
              const result = applyEdits(faulty, fix.edits)
              if (!result.ok) throw new Error(`${found.code} ${found.path}: ${JSON.stringify(result.issues)}`)
              const left = validate(result.draft, environment)
              // After a removal the next item of a list has the same path, so findings are compared by their message too.
              const same = left.filter(
                ({ code, path, message }) => code === found.code && path === found.path && message === found.message,
              )
              if (same.length > 0) throw new Error(`${found.code} ${found.path} is still there: ${JSON.stringify(fix)}`)
              resolved.add(found.code)
            }
        }),
        { numRuns: 40 },
      )
      expect(resolved.size).toBeGreaterThan(5)
    },
    TIMEOUT_MS,
  )
})

const EVERY_TYPE: { readonly [Type in DraftEdit['type']]: true } = {
  'agent.name': true,
  'agent.settings': true,
  'agent.telephony': true,
  'agent.provider': true,
  'agent.knowledge': true,
  'agent.analysis': true,
  'agent.recording': true,
  'notification.put': true,
  'notification.remove': true,
  'action.put': true,
  'action.remove': true,
  'phone.inbound_context': true,
  'flow.prompt': true,
  'node.instruction': true,
  'flow.node.put': true,
  'flow.node.remove': true,
  'flow.edge.put': true,
  'flow.edge.remove': true,
  'flow.start': true,
  'flow.component.put': true,
  'flow.component.remove': true,
  'flow.variables': true,
}

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) freeze(member)
    Object.freeze(value)
  }
  return value
}

/** Every object and array in a value. */
function reachable(value: unknown, found: Set<object> = new Set()): Set<object> {
  if (typeof value !== 'object' || value === null || found.has(value)) return found
  found.add(value)
  for (const member of Object.values(value)) reachable(member, found)
  return found
}
