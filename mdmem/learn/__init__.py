"""What was learned: decisions in force, open work, fixes, entities. Rules find it, without a model."""
