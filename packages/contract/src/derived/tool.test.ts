import { describe, expect, it } from 'vitest'
import { operations } from '../operations.ts'
import { operationOf } from '../testing/requests.ts'
import { toTool } from './tool.ts'

const schemaOf = (id: string) => toTool(operationOf(id))!.inputSchema

describe('a tool', () => {
  it.each(operations.map(operation => [operation.id, operation] as const))(
    'the tool of %s takes an object with the parts of the request',
    (_, operation) => {
      const tool = toTool(operation)!
      expect(tool.name).toMatch(/^[a-z][a-z_]{0,63}$/)
      expect(tool.inputSchema).toMatchObject({ type: 'object' })
      const parts = { params: operation.params, query: operation.query, body: operation.body }
      const taken = Object.entries(parts).flatMap(([name, part]) => (part === null ? [] : [name]))
      if (operation.idempotency === 'required_header') taken.push('idempotency_key')
      expect(Object.keys(tool.inputSchema.properties as object)).toEqual(taken)
    },
  )

  it('a tool requires a part of the request only if it has a required member', () => {
    expect(schemaOf('agents.list').required).toBeUndefined()
    expect(schemaOf('agents.get').required).toEqual(['params'])
    expect(schemaOf('agents.create').required).toEqual(['body', 'idempotency_key'])
    expect(schemaOf('agents.clone').required).toEqual(['params', 'idempotency_key'])
    expect(schemaOf('drafts.discard').required).toEqual(['params', 'query'])
    expect(schemaOf('drafts.validate').required).toEqual(['params'])
    expect(schemaOf('environments.ensure_sandbox').required).toBeUndefined()
  })

  it('the input schema of a tool has the bounds that a model may meet', () =>
    expect(schemaOf('call_limits.update')).toEqual({
      type: 'object',
      properties: {
        body: {
          type: 'object',
          properties: {
            daily_limit: { type: ['integer', 'null'], minimum: 0, maximum: 1_000_000 },
          },
          required: ['daily_limit'],
        },
      },
      required: ['body'],
    }))

  it('the annotations of a tool say whether it reads, destroys or is idempotent', () => {
    expect(toTool(operationOf('drafts.validate'))!.annotations).toMatchObject({
      readOnlyHint: true,
      idempotentHint: true,
    })
    expect(toTool(operationOf('keys.revoke'))!.annotations).toMatchObject({
      destructiveHint: true,
      idempotentHint: true,
    })
    expect(toTool(operationOf('keys.create'))!.annotations).toEqual({ destructiveHint: false })
  })

  it('an operation that is declared without a tool gets none', () =>
    expect(toTool({ ...operationOf('agents.list'), tool: null })).toBeNull())
})
