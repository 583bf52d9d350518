"""What real schedulers decide, each as pure functions of exact numbers: orders, comparisons, entitlements.

==================  ===========================================================================================
``mesos``           the order of roles and frameworks in a tree, by dominant share
``mesos_offers``    cycles of offers of agents' free resources, quotas first
``yarn``            YARN's fair scheduler: its comparison of queues by dominant share, with its known faults
``yarn_shares``     YARN's fair shares of one resource
``sorted_shares``   YARN's capacity scheduler and YuniKorn: all shares, largest first
``yunikorn``        YuniKorn: share of what is guaranteed
``kueue``           Kueue: what is borrowed from a tree of cohorts
``kai``             NVIDIA's KAI: one resource in whole units, by priority and weight
``koordinator``     Koordinator: runtime quotas of one resource
``armada``          Armada: cost, fair shares of one dominant share, fairness error
``hierarchy``       a tree of groups, filled task by task: hierarchical DRF as in Volcano, with or without blocked nodes
``dynamic``         dynamic DRF: users arrive one by one and nobody ever loses
``karma``           credits for demands that vary
==================  ===========================================================================================

Their words are kept where they name parts of them (role, framework, queue, cohort).  Amounts are integers or
`Fraction`s, so that a tie is a tie; where the scheduler itself computes in floats, that is said.
"""
