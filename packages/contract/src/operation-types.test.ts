import { describe, expectTypeOf, it } from 'vitest'
import type { AnswerOf, Handler, InputOf, RequestOf, ResultOf } from './operation-types.ts'
import type { OperationId, OperationNamed } from './operations.ts'

type Create = OperationNamed<'agents.create'>
type List = OperationNamed<'agents.list'>
type Clone = OperationNamed<'agents.clone'>

describe('the types of an operation', () => {
  it('give a handler what was parsed, with defaults', () => {
    expectTypeOf<InputOf<Create>['body']['language']>().toEqualTypeOf<'en' | 'es'>()
    expectTypeOf<InputOf<Create>['params']>().toEqualTypeOf<null>()
    expectTypeOf<InputOf<List>['query']['limit']>().toEqualTypeOf<number>()
    expectTypeOf<Parameters<Handler<List, { tenant: string }>>[1]>().toEqualTypeOf<{ tenant: string }>()
  })

  it('let a handler answer with the statuses of the operation only', () => {
    expectTypeOf<AnswerOf<Create>['status']>().toEqualTypeOf<200 | 201>()
    expectTypeOf<AnswerOf<List>['status']>().toEqualTypeOf<200>()
  })

  it('let a client leave out what has a default, and no key that is required', () => {
    expectTypeOf<{
      body: { template: 'blank'; name: string }
      idempotency_key: string
    }>().toExtend<RequestOf<Create>>()
    expectTypeOf<{ body: { template: 'blank'; name: string } }>().not.toExtend<RequestOf<Create>>()
    expectTypeOf<object>().toExtend<RequestOf<List>>()
    expectTypeOf<{ params: { agent_id: string }; idempotency_key: string }>().toExtend<RequestOf<Clone>>()
    expectTypeOf<{ idempotency_key: string }>().not.toExtend<RequestOf<Clone>>()
  })

  it('give a client the answer', () => {
    expectTypeOf<ResultOf<List>['next_cursor']>().toEqualTypeOf<string | null>()
    expectTypeOf<'agents.create'>().toExtend<OperationId>()
    expectTypeOf<'runs.events'>().not.toExtend<OperationId>()
  })
})
