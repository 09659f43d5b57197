/**
 * The words of a job that another has too which runs in its place: a retry that is a new job, what comes next of duplicates, a
 * letter whose ending is final and that is driven again. Whose child it is, with which input, when and how urgently it runs, each says for itself.
 */
import type { Spec } from './job.ts'

type InPlace = Pick<
  Spec,
  'contextPtr' | 'topic' | 'adapterId' | 'env' | 'labels' | 'workflowId' | 'stepIndex' | 'dedupeKey' | 'flow'
>

export const wordsInPlaceOf = (spec: Spec): InPlace => ({
  contextPtr: spec.contextPtr,
  topic: spec.topic,
  adapterId: spec.adapterId,
  env: spec.env,
  labels: spec.labels,
  workflowId: spec.workflowId,
  stepIndex: spec.stepIndex,
  dedupeKey: spec.dedupeKey,
  flow: spec.flow,
})
