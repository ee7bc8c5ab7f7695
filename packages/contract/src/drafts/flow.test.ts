import {
  type FieldCases,
  integer,
  list,
  mismatches,
  nullable,
  oneOf,
  optional,
  pattern,
  text,
  variations,
} from '@parley/nodes/testing'
import { describe, expect, it } from 'vitest'
import { flow } from './flow.ts'

const nodeId = pattern(['a', 'x'.repeat(63)], ['', 'a/b', 'a\nb', 'x'.repeat(64)])
const like = (value: unknown): FieldCases => ({ valid: [value], invalid: ['x', 7, []], optional: false })

describe('a flow', () => {
  const end = { id: 'end', type: 'end' }
  const fields: Record<string, FieldCases> = {
    global_prompt: optional(text(0, 65_536)),
    start_node_id: optional(nullable(nodeId)),
    start_speaker: optional(oneOf('agent', 'user')),
    begin_after_user_silence_ms: optional(nullable(integer(0, 60_000))),
    default_dynamic_variables: optional({
      valid: [{}, { name: 'x'.repeat(4096) }],
      invalid: [{ name: 'x'.repeat(4097) }, { name: 1 }, { '9}': 'x' }],
      optional: false,
    }),
    nodes: optional(list(0, 500, like(end))),
    components: optional(list(0, 50, like({ component_id: 'c', nodes: [end] }))),
  }

  it('each field of a flow accepts the values within its bounds and no others', () =>
    expect(mismatches(variations({}, fields), value => flow.safeParse(value).success)).toEqual([]))
})
