import { describe, expectTypeOf, it } from 'vitest'
import type { AnswerOf, Handler, InputOf, RequestOf, ResultOf } from './operation-types.ts'
import type { OperationId, OperationNamed } from './operations.ts'

type Create = OperationNamed<'agents.create'>
type List = OperationNamed<'agents.list'>
type Clone = OperationNamed<'agents.clone'>

describe('the types of an operation', () => {
  it('the input type of a handler has all members, defaults included', () => {
    expectTypeOf<InputOf<Create>['body']['language']>().toEqualTypeOf<'en' | 'es'>()
    expectTypeOf<InputOf<Create>['params']>().toEqualTypeOf<null>()
    expectTypeOf<InputOf<List>['query']['limit']>().toEqualTypeOf<number>()
    expectTypeOf<Parameters<Handler<List, { tenant: string }>>[1]>().toEqualTypeOf<{ tenant: string }>()
  })

  it('a handler can respond only with the statuses of its operation', () => {
    expectTypeOf<AnswerOf<Create>['status']>().toEqualTypeOf<200 | 201>()
    expectTypeOf<AnswerOf<List>['status']>().toEqualTypeOf<200>()
  })

  it('the request type of a client leaves members with a default optional and the idempotency key required', () => {
    expectTypeOf<{
      body: { template: 'blank'; name: string }
      idempotency_key: string
    }>().toExtend<RequestOf<Create>>()
    expectTypeOf<{ body: { template: 'blank'; name: string } }>().not.toExtend<RequestOf<Create>>()
    expectTypeOf<object>().toExtend<RequestOf<List>>()
    expectTypeOf<{ params: { agent_id: string }; idempotency_key: string }>().toExtend<RequestOf<Clone>>()
    expectTypeOf<{ idempotency_key: string }>().not.toExtend<RequestOf<Clone>>()
  })

  it('the result type of a client is the response body', () => {
    expectTypeOf<ResultOf<List>['next_cursor']>().toEqualTypeOf<string | null>()
    expectTypeOf<'agents.create'>().toExtend<OperationId>()
    expectTypeOf<'runs.events'>().not.toExtend<OperationId>()
  })
})
