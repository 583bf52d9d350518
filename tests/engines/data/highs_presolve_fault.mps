* A small counting program on which HiGHS 1.15.1 errs: with its default presolve it calls it infeasible, without presolve
* the optimum is 4, and CBC finds 4 too. Found while whole-task leximin was tried out; kept as a test of the driver.
NAME        
ROWS
 N  Obj     
 G  r0      
 G  r1      
 G  r2      
 G  r3      
 E  r4      
 E  r5      
 E  r6      
 E  r7      
 E  r8      
 E  r9      
 E  r10     
 E  r11     
 E  r12     
 E  r13     
 E  r14     
 E  r15     
 E  r16     
 E  r17     
 E  r18     
 E  r19     
 E  r20     
 E  r21     
 E  r22     
 L  r23     
 L  r24     
 E  r25     
 L  r26     
 L  r27     
 L  r28     
 L  r29     
 E  r30     
 L  r31     
 E  r32     
 L  r33     
 E  r34     
 L  r35     
 E  r36     
 L  r37     
 L  r38     
 E  r39     
 E  r40     
 L  r41     
 L  r42     
 E  r43     
 E  r44     
 E  r45     
 E  r46     
 E  r47     
 L  r48     
 E  r49     
 L  r50     
 E  r51     
 L  r52     
 L  r53     
 E  r54     
 L  r55     
 L  r56     
 L  r57     
 L  r58     
 L  r59     
 L  r60     
 L  r61     
 L  r62     
 L  r63     
 E  r64     
 L  r65     
 L  r66     
 L  r67     
 L  r68     
 L  r69     
 L  r70     
 L  r71     
 L  r72     
 E  r73     
 L  r74     
 E  r75     
 E  r76     
 L  r77     
 L  r78     
 L  r79     
 L  r80     
 L  r81     
 L  r82     
 E  r83     
 L  r84     
 L  r85     
 E  r86     
COLUMNS
    MARK0000  'MARKER'                 'INTORG'
    c0        r1        72
    c0        r4        1
    c0        r23       1
    c1        r1        72
    c1        r2        32
    c1        r3        64
    c1        r4        1
    c1        r24       1
    c2        r0        4
    c2        r1        12
    c2        r3        2
    c2        r4        1
    c2        r25       1
    c3        r1        72
    c3        r3        8
    c3        r4        1
    c3        r26       1
    c4        r1        72
    c4        r2        48
    c4        r3        32
    c4        r4        1
    c4        r27       1
    c5        r1        69
    c5        r2        23
    c5        r4        1
    c5        r28       1
    c6        r1        72
    c6        r3        56
    c6        r4        1
    c6        r29       1
    c7        r0        10
    c7        r1        18
    c7        r3        12
    c7        r4        1
    c7        r30       1
    c8        r1        72
    c8        r3        48
    c8        r4        1
    c8        r31       1
    c9        r0        10
    c9        r2        18
    c9        r3        14
    c9        r5        1
    c9        r32       1
    c10       r1        45
    c10       r2        81
    c10       r3        72
    c10       r5        1
    c10       r33       1
    c11       r0        8
    c11       r1        4
    c11       r2        18
    c11       r3        14
    c11       r5        1
    c11       r34       1
    c12       r2        81
    c12       r3        18
    c12       r5        1
    c12       r35       1
    c13       r0        3
    c13       r1        3
    c13       r2        9
    c13       r5        1
    c13       r36       1
    c14       r2        81
    c14       r3        27
    c14       r5        1
    c14       r37       1
    c15       r2        78
    c15       r3        26
    c15       r5        1
    c15       r38       1
    c16       r0        4
    c16       r2        12
    c16       r3        18
    c16       r6        1
    c16       r39       1
    c17       r0        3
    c17       r2        3
    c17       r3        15
    c17       r6        1
    c17       r40       1
    c18       r2        16
    c18       r3        80
    c18       r6        1
    c18       r41       1
    c19       r2        13
    c19       r3        78
    c19       r6        1
    c19       r42       1
    c20       r0        3
    c20       r1        15
    c20       r2        9
    c20       r3        18
    c20       r6        1
    c20       r43       1
    c21       r0        6
    c21       r3        18
    c21       r6        1
    c21       r44       1
    c22       r0        6
    c22       r1        14
    c22       r3        18
    c22       r6        1
    c22       r45       1
    c23       r0        4
    c23       r3        8
    c23       r7        1
    c23       r46       1
    c24       r0        8
    c24       r1        10
    c24       r2        6
    c24       r3        16
    c24       r7        1
    c24       r47       1
    c25       r2        20
    c25       r3        80
    c25       r7        1
    c25       r48       1
    c26       r0        4
    c26       r3        8
    c26       r7        1
    c26       r49       1
    c27       r1        30
    c27       r2        50
    c27       r3        80
    c27       r7        1
    c27       r50       1
    c28       r0        6
    c28       r2        6
    c28       r3        16
    c28       r7        1
    c28       r51       1
    c29       r3        77
    c29       r8        1
    c29       r52       1
    c30       r1        44
    c30       r2        33
    c30       r3        77
    c30       r8        1
    c30       r53       1
    c31       r0        4
    c31       r1        4
    c31       r2        4
    c31       r3        14
    c31       r8        1
    c31       r54       1
    c32       r3        77
    c32       r8        1
    c32       r55       1
    c33       r3        77
    c33       r8        1
    c33       r56       1
    c34       r1        11
    c34       r3        77
    c34       r8        1
    c34       r57       1
    c35       r1        52
    c35       r2        78
    c35       r3        26
    c35       r9        1
    c35       r58       1
    c36       r1        13
    c36       r2        78
    c36       r9        1
    c36       r59       1
    c37       r1        52
    c37       r2        78
    c37       r3        13
    c37       r9        1
    c37       r60       1
    c38       r1        20
    c38       r2        80
    c38       r9        1
    c38       r61       1
    c39       r1        60
    c39       r2        80
    c39       r9        1
    c39       r62       1
    c40       r0        2
    c40       r1        2
    c40       r2        6
    c40       r9        1
    c40       r36       1
    c41       r2        80
    c41       r9        1
    c41       r63       1
    c42       r0        3
    c42       r2        12
    c42       r3        3
    c42       r9        1
    c42       r64       1
    c43       r1        70
    c43       r2        80
    c43       r3        20
    c43       r9        1
    c43       r65       1
    c44       r2        80
    c44       r3        50
    c44       r9        1
    c44       r66       1
    c45       r2        75
    c45       r3        25
    c45       r9        1
    c45       r38       1
    c46       r1        70
    c46       r3        20
    c46       r10       1
    c46       r67       1
    c47       r1        70
    c47       r10       1
    c47       r68       1
    c48       r1        70
    c48       r3        40
    c48       r10       1
    c48       r69       1
    c49       r1        70
    c49       r2        40
    c49       r3        50
    c49       r10       1
    c49       r70       1
    c50       r1        70
    c50       r10       1
    c50       r71       1
    c51       r2        75
    c51       r3        15
    c51       r11       1
    c51       r72       1
    c52       r0        3
    c52       r2        15
    c52       r11       1
    c52       r73       1
    c53       r2        75
    c53       r11       1
    c53       r74       1
    c54       r0        2
    c54       r2        2
    c54       r3        10
    c54       r12       1
    c54       r40       1
    c55       r2        15
    c55       r3        75
    c55       r12       1
    c55       r41       1
    c56       r0        6
    c56       r2        14
    c56       r3        8
    c56       r13       1
    c56       r75       1
    c57       r0        6
    c57       r1        6
    c57       r2        14
    c57       r3        12
    c57       r13       1
    c57       r76       1
    c58       r1        33
    c58       r2        77
    c58       r13       1
    c58       r77       1
    c59       r1        66
    c59       r2        77
    c59       r13       1
    c59       r78       1
    c60       r2        12
    c60       r3        72
    c60       r14       1
    c60       r42       1
    c61       r0        2
    c61       r1        10
    c61       r2        6
    c61       r3        12
    c61       r14       1
    c61       r43       1
    c62       r1        65
    c62       r15       1
    c62       r79       1
    c63       r1        64
    c63       r2        56
    c63       r3        8
    c63       r15       1
    c63       r80       1
    c64       r1        64
    c64       r2        24
    c64       r15       1
    c64       r81       1
    c65       r1        64
    c65       r15       1
    c65       r82       1
    c66       r0        10
    c66       r1        16
    c66       r2        12
    c66       r15       1
    c66       r83       1
    c67       r1        64
    c67       r15       1
    c67       r84       1
    c68       r1        64
    c68       r2        16
    c68       r3        24
    c68       r15       1
    c68       r85       1
    c69       r0        10
    c69       r1        16
    c69       r2        16
    c69       r15       1
    c69       r86       1
    c70       r1        63
    c70       r2        21
    c70       r15       1
    c70       r28       1
    c71       r2        70
    c71       r3        14
    c71       r16       1
    c71       r72       1
    c72       r0        2
    c72       r2        10
    c72       r16       1
    c72       r73       1
    c73       r2        70
    c73       r16       1
    c73       r74       1
    c74       r1        48
    c74       r2        72
    c74       r3        24
    c74       r16       1
    c74       r58       1
    c75       r1        40
    c75       r2        72
    c75       r3        64
    c75       r16       1
    c75       r33       1
    c76       r1        12
    c76       r2        72
    c76       r16       1
    c76       r59       1
    c77       r1        48
    c77       r2        72
    c77       r3        12
    c77       r16       1
    c77       r60       1
    c78       r2        72
    c78       r3        16
    c78       r16       1
    c78       r35       1
    c79       r2        72
    c79       r3        24
    c79       r16       1
    c79       r37       1
    c80       r2        69
    c80       r3        23
    c80       r16       1
    c80       r38       1
    c81       r1        63
    c81       r17       1
    c81       r23       1
    c82       r1        63
    c82       r2        28
    c82       r3        56
    c82       r17       1
    c82       r24       1
    c83       r1        63
    c83       r3        7
    c83       r17       1
    c83       r26       1
    c84       r1        63
    c84       r2        42
    c84       r3        28
    c84       r17       1
    c84       r27       1
    c85       r1        60
    c85       r2        20
    c85       r17       1
    c85       r28       1
    c86       r1        63
    c86       r3        49
    c86       r17       1
    c86       r29       1
    c87       r1        63
    c87       r3        42
    c87       r17       1
    c87       r31       1
    c88       r3        70
    c88       r18       1
    c88       r52       1
    c89       r2        14
    c89       r3        70
    c89       r18       1
    c89       r41       1
    c90       r1        40
    c90       r2        30
    c90       r3        70
    c90       r18       1
    c90       r53       1
    c91       r2        18
    c91       r3        72
    c91       r18       1
    c91       r48       1
    c92       r3        70
    c92       r18       1
    c92       r55       1
    c93       r3        70
    c93       r18       1
    c93       r56       1
    c94       r1        27
    c94       r2        45
    c94       r3        72
    c94       r18       1
    c94       r50       1
    c95       r1        10
    c95       r3        70
    c95       r18       1
    c95       r57       1
    c96       r1        8
    c96       r2        7
    c96       r3        1
    c96       r19       1
    c96       r80       1
    c97       r1        8
    c97       r2        3
    c97       r19       1
    c97       r81       1
    c98       r1        8
    c98       r19       1
    c98       r82       1
    c99       r1        8
    c99       r19       1
    c99       r84       1
    c100      r1        8
    c100      r2        2
    c100      r3        3
    c100      r19       1
    c100      r85       1
    c101      r1        9
    c101      r20       1
    c101      r23       1
    c102      r1        9
    c102      r2        4
    c102      r3        8
    c102      r20       1
    c102      r24       1
    c103      r1        9
    c103      r3        1
    c103      r20       1
    c103      r26       1
    c104      r1        9
    c104      r2        6
    c104      r3        4
    c104      r20       1
    c104      r27       1
    c105      r1        6
    c105      r2        2
    c105      r20       1
    c105      r28       1
    c106      r1        9
    c106      r3        7
    c106      r20       1
    c106      r29       1
    c107      r1        9
    c107      r3        6
    c107      r20       1
    c107      r31       1
    c108      r1        5
    c108      r21       1
    c108      r79       1
    c109      r1        4
    c109      r21       1
    c109      r82       1
    c110      r1        4
    c110      r21       1
    c110      r84       1
    c111      r1        3
    c111      r2        1
    c111      r21       1
    c111      r28       1
    c112      r1        7
    c112      r3        2
    c112      r22       1
    c112      r67       1
    c113      r1        7
    c113      r22       1
    c113      r68       1
    c114      r1        7
    c114      r3        4
    c114      r22       1
    c114      r69       1
    c115      r1        7
    c115      r2        4
    c115      r3        5
    c115      r22       1
    c115      r70       1
    c116      r1        7
    c116      r22       1
    c116      r71       1
    c117      Obj       1
    c117      r1        4
    c117      r2        6
    c117      r3        2
    c117      r58       1
    c118      Obj       1
    c118      r1        3
    c118      r2        7
    c118      r77       1
    c119      Obj       1
    c119      r1        1
    c119      r2        6
    c119      r59       1
    c120      Obj       1
    c120      r1        4
    c120      r2        6
    c120      r3        1
    c120      r60       1
    c121      Obj       1
    c121      r1        2
    c121      r2        8
    c121      r61       1
    c122      Obj       1
    c122      r1        6
    c122      r2        8
    c122      r62       1
    c123      Obj       1
    c123      r2        8
    c123      r63       1
    c124      Obj       1
    c124      r1        7
    c124      r2        8
    c124      r3        2
    c124      r65       1
    c125      Obj       1
    c125      r1        6
    c125      r2        7
    c125      r78       1
    c126      Obj       1
    c126      r2        8
    c126      r3        5
    c126      r66       1
    c127      Obj       1
    c127      r2        3
    c127      r3        1
    c127      r38       1
    MARK0001  'MARKER'                 'INTEND'
RHS
    RHS_V     r0        120
    RHS_V     r1        1123
    RHS_V     r2        931
    RHS_V     r3        1431
    RHS_V     r4        2
    RHS_V     r5        2
    RHS_V     r6        5
    RHS_V     r7        4
    RHS_V     r8        1
    RHS_V     r9        6
    RHS_V     r10       3
    RHS_V     r11       2
    RHS_V     r12       1
    RHS_V     r13       2
    RHS_V     r14       1
    RHS_V     r15       4
    RHS_V     r16       4
    RHS_V     r17       5
    RHS_V     r18       7
    RHS_V     r19       1
    RHS_V     r20       2
    RHS_V     r21       3
    RHS_V     r22       2
    RHS_V     r23       1
    RHS_V     r24       1
    RHS_V     r25       1
    RHS_V     r26       1
    RHS_V     r27       1
    RHS_V     r28       1
    RHS_V     r29       1
    RHS_V     r30       1
    RHS_V     r31       1
    RHS_V     r32       1
    RHS_V     r33       1
    RHS_V     r34       1
    RHS_V     r35       1
    RHS_V     r36       1
    RHS_V     r37       1
    RHS_V     r38       1
    RHS_V     r39       1
    RHS_V     r40       1
    RHS_V     r41       1
    RHS_V     r42       1
    RHS_V     r43       1
    RHS_V     r44       1
    RHS_V     r45       1
    RHS_V     r46       1
    RHS_V     r47       1
    RHS_V     r48       1
    RHS_V     r49       1
    RHS_V     r50       1
    RHS_V     r51       1
    RHS_V     r52       1
    RHS_V     r53       1
    RHS_V     r54       1
    RHS_V     r55       1
    RHS_V     r56       1
    RHS_V     r57       1
    RHS_V     r58       1
    RHS_V     r59       1
    RHS_V     r60       1
    RHS_V     r61       1
    RHS_V     r62       1
    RHS_V     r63       1
    RHS_V     r64       1
    RHS_V     r65       1
    RHS_V     r66       1
    RHS_V     r67       1
    RHS_V     r68       1
    RHS_V     r69       1
    RHS_V     r70       1
    RHS_V     r71       1
    RHS_V     r72       1
    RHS_V     r73       1
    RHS_V     r74       1
    RHS_V     r75       1
    RHS_V     r76       1
    RHS_V     r77       1
    RHS_V     r78       1
    RHS_V     r79       1
    RHS_V     r80       1
    RHS_V     r81       1
    RHS_V     r82       1
    RHS_V     r83       1
    RHS_V     r84       1
    RHS_V     r85       1
    RHS_V     r86       1
BOUNDS
 BV BOUND     c0      
 BV BOUND     c1      
 BV BOUND     c2      
 BV BOUND     c3      
 BV BOUND     c4      
 BV BOUND     c5      
 BV BOUND     c6      
 BV BOUND     c7      
 BV BOUND     c8      
 BV BOUND     c9      
 BV BOUND     c10     
 BV BOUND     c11     
 BV BOUND     c12     
 BV BOUND     c13     
 BV BOUND     c14     
 BV BOUND     c15     
 BV BOUND     c16     
 BV BOUND     c17     
 BV BOUND     c18     
 BV BOUND     c19     
 BV BOUND     c20     
 BV BOUND     c21     
 BV BOUND     c22     
 BV BOUND     c23     
 BV BOUND     c24     
 BV BOUND     c25     
 BV BOUND     c26     
 BV BOUND     c27     
 BV BOUND     c28     
 BV BOUND     c29     
 BV BOUND     c30     
 BV BOUND     c31     
 BV BOUND     c32     
 BV BOUND     c33     
 BV BOUND     c34     
 BV BOUND     c35     
 BV BOUND     c36     
 BV BOUND     c37     
 BV BOUND     c38     
 BV BOUND     c39     
 BV BOUND     c40     
 BV BOUND     c41     
 BV BOUND     c42     
 BV BOUND     c43     
 BV BOUND     c44     
 BV BOUND     c45     
 BV BOUND     c46     
 BV BOUND     c47     
 BV BOUND     c48     
 BV BOUND     c49     
 BV BOUND     c50     
 BV BOUND     c51     
 BV BOUND     c52     
 BV BOUND     c53     
 BV BOUND     c54     
 BV BOUND     c55     
 BV BOUND     c56     
 BV BOUND     c57     
 BV BOUND     c58     
 BV BOUND     c59     
 BV BOUND     c60     
 BV BOUND     c61     
 BV BOUND     c62     
 BV BOUND     c63     
 BV BOUND     c64     
 BV BOUND     c65     
 BV BOUND     c66     
 BV BOUND     c67     
 BV BOUND     c68     
 BV BOUND     c69     
 BV BOUND     c70     
 BV BOUND     c71     
 BV BOUND     c72     
 BV BOUND     c73     
 BV BOUND     c74     
 BV BOUND     c75     
 BV BOUND     c76     
 BV BOUND     c77     
 BV BOUND     c78     
 BV BOUND     c79     
 BV BOUND     c80     
 BV BOUND     c81     
 BV BOUND     c82     
 BV BOUND     c83     
 BV BOUND     c84     
 BV BOUND     c85     
 BV BOUND     c86     
 BV BOUND     c87     
 BV BOUND     c88     
 BV BOUND     c89     
 BV BOUND     c90     
 BV BOUND     c91     
 BV BOUND     c92     
 BV BOUND     c93     
 BV BOUND     c94     
 BV BOUND     c95     
 BV BOUND     c96     
 BV BOUND     c97     
 BV BOUND     c98     
 BV BOUND     c99     
 BV BOUND     c100    
 BV BOUND     c101    
 BV BOUND     c102    
 BV BOUND     c103    
 BV BOUND     c104    
 BV BOUND     c105    
 BV BOUND     c106    
 BV BOUND     c107    
 BV BOUND     c108    
 BV BOUND     c109    
 BV BOUND     c110    
 BV BOUND     c111    
 BV BOUND     c112    
 BV BOUND     c113    
 BV BOUND     c114    
 BV BOUND     c115    
 BV BOUND     c116    
 BV BOUND     c117    
 BV BOUND     c118    
 BV BOUND     c119    
 BV BOUND     c120    
 BV BOUND     c121    
 BV BOUND     c122    
 BV BOUND     c123    
 BV BOUND     c124    
 BV BOUND     c125    
 BV BOUND     c126    
 BV BOUND     c127    
ENDATA
