/** Something that must never happen, and did. Thrown, so that the explorer knows on which step. */
export class Breach extends Error {
  /** `I1` … `I12` and `I15` of the lifecycle, or the name of one of the model's own promises. */
  readonly rule: string

  constructor(rule: string, what: string) {
    super(what)
    this.rule = rule
  }
}

export function breach(rule: string, what: string): never {
  throw new Breach(rule, what)
}

export function must(condition: boolean, rule: string, what: string): asserts condition {
  if (!condition) breach(rule, what)
}
