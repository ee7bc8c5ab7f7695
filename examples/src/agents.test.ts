import { compile } from '@parley/flow'
import { describe, expect, it } from 'vitest'
import { exampleDraft, exampleDrafts } from './io/example-drafts.ts'
import { PLACEHOLDER_ORIGIN, withOrigin } from './placeholder-origin.ts'

describe('the example agents', () => {
  it.each(exampleDrafts())('$name can be published as it is; only a trunk is missing', ({ draft }) => {
    const compiled = compile(draft)
    expect(compiled.ok ? compiled.warnings.map(warning => warning.code) : compiled.diagnostics).toEqual([
      'telephony_missing',
    ])
  })

  it.each(exampleDrafts())(
    '$name has all its actions at the placeholder, and moves to where its server is',
    example => {
      const origins = (draft: typeof example.draft) =>
        new Set(
          (draft.actions ?? []).map(action => (action.kind === 'http' ? new URL(action.url).origin : action.kind)),
        )
      expect(origins(example.draft)).toEqual(new Set([PLACEHOLDER_ORIGIN]))
      expect(origins(withOrigin(example.draft, 'http://127.0.0.1:49152'))).toEqual(new Set(['http://127.0.0.1:49152']))
    },
  )

  it('the examples use every node type that needs no external service', () => {
    const types = exampleDrafts().flatMap(({ draft }) => [
      ...(draft.flow?.nodes ?? []).map(node => node.type),
      ...(draft.flow?.components ?? []).flatMap(component => (component.nodes ?? []).map(node => node.type)),
    ])
    expect(new Set(types)).toEqual(
      new Set([
        'conversation',
        'subagent',
        'function',
        'branch',
        'extract_dynamic_variables',
        'component',
        'transfer_call',
        'end',
      ]),
    )
  })

  it('every example names its file', () => {
    expect(exampleDraft('clinic').file).toMatch(/agents\/clinic\.json$/)
  })
})
