export { operationIdOf, SPECIFIED_OPERATIONS, type SpecifiedOperation } from './specified-operations.ts'
