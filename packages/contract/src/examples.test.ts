import { describe, expect, it } from 'vitest'
import { toOpenApi } from './derived/openapi.ts'
import { editSchema } from './drafts/draft-edit.ts'
import { nameEditSchema } from './examples/agents.ts'
import { EXAMPLES, exampleOf } from './examples/index.ts'
import type { Operation } from './operation.ts'
import { operations, streams } from './operations.ts'
import { authOperations } from './people/auth.ts'

const every: readonly Operation[] = [...operations, ...streams, ...Object.values(authOperations)]

interface Described {
  operationId: string
  requestBody?: { content: Record<string, object> }
  responses: Record<string, { content: Record<string, object> }>
}

const document = toOpenApi(every)
const described = Object.values(document.paths).flatMap(item => Object.values(item) as unknown as Described[])

describe.each(every)('the example of $id', ({ id, body, output, media, statuses }) => {
  const example = exampleOf(id)!

  it('the example of an operation has a body exactly where the operation takes one, which the operation accepts', () => {
    expect(example.body !== undefined).toBe(body !== null)
    expect(body?.safeParse(example.body).error).toBeUndefined()
  })

  it('the example of an operation has an answer that matches the schema of the operation', () => {
    expect(output.parse(example.answer)).toEqual(example.answer)
  })

  it('the example of an operation stands in the OpenAPI document at the request and at each answer with 2xx', () => {
    const { requestBody, responses } = described.find(({ operationId }) => operationId === id)!
    if (example.body !== undefined)
      expect(requestBody?.content['application/json']).toHaveProperty('example', example.body)
    const answer = media === 'application/json' ? example.answer : `data: ${JSON.stringify(example.answer)}\n\n`
    for (const status of statuses) expect(responses[status]?.content[media]).toHaveProperty('example', answer)
  })
})

it('every example names an operation of the API', () => {
  expect(Object.keys(EXAMPLES).sort()).toEqual(every.map(({ id }) => id).sort())
})

it('the example of drafts.edit_schema shows the schema that the API answers', () => {
  expect(nameEditSchema).toEqual(editSchema('agent.name'))
})
